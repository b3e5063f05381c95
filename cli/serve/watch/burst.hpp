// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace skua::cli {

/// The kind of a change, as far as a page that shows it has to know.
enum class Change : std::uint8_t {
  None,
  Styles,  ///< of style sheets only
  Pages,
};

/// Names below a folder that changed shortly after each other.
///
/// Temporary names do not count: those that appeared and vanished again.
class Burst {
 public:
  enum class Event : std::uint8_t {
    Begun,     ///< is there now, and will be written
    Appeared,  ///< is there now
    Changed,   ///< was written, or perhaps appeared
    Vanished,
  };
  /// Beyond so many names, which ones are not remembered.
  static constexpr std::size_t max_names = 10'000;

  void add(std::string path, Event event);
  /// Adds changes that are not known one by one.
  void add_unknown() noexcept {
    is_unknown_ = true;
    ++count_;
  }
  /// The number of changes that were ever added.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Returns the kind of the changes, and forgets them; files that are still written stay.
  Change take();

 private:
  struct Name {
    bool is_new = false;
    bool is_gone = false;
    bool has_changed = false;
  };

  std::map<std::string, Name> names_;
  bool is_unknown_ = false;
  std::size_t count_ = 0;
};

}  // namespace skua::cli
