// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "progress.hpp"

namespace skua::cli {

/// The board of several transfers on the standard error, where that is a terminal and they are
/// wanted; and the lines between them.
class ProgressDisplay final {
 public:
  explicit ProgressDisplay(bool is_wanted);

  [[nodiscard]] bool is_shown() const noexcept { return is_shown_; }
  std::size_t add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                  std::uint64_t begun_bytes);
  void advance(std::size_t number, std::uint64_t done_bytes);
  /// Takes a transfer off the display; returns its summary.
  std::string end(std::size_t number);
  /// Draws it again if that is due, so that a rate falls when nothing arrives.
  void tick();
  /// Removes it until it is drawn again: others write on the terminal.
  void clear();
  /// Lines for a person, each with its end.
  void say(std::string_view lines);

 private:
  void draw();

  ProgressBoard board_;
  bool is_shown_;
};

}  // namespace skua::cli
