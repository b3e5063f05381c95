// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// What a part is a part of.
struct PartOrigin {
  std::string url{};        ///< without a name and a password
  std::string validator{};  ///< a strong ETag, or a date, for If-Range; empty: it cannot go on
  std::optional<std::uint64_t> total_bytes{};

  bool operator==(const PartOrigin&) const noexcept = default;
};

/// The URL as an origin has it: without a name, a password and a fragment.
std::string origin_url(const Url& url);

/// A file that is downloaded in one go or in several: `.NAME.part` in the folder where NAME is to
/// be, and beside it `.NAME.part.origin`, which says of what it is a part. The whole file has the
/// server's time of its last change. It blocks: to be used off the loop.
///
/// Ends with: SystemFailure (EBUSY), from look() and start(), where another one writes that part.
class ResumableFile {
 public:
  /// What look() has found.
  enum class Found : std::uint8_t {
    Nothing,
    Part,   ///< of what origin() says
    Whole,  ///< the file itself; the validator is its time
  };
  struct Options {
    bool keeps_part = false;  ///< one that is given up stays, if it can be gone on with
    /// A file that is there stays, and so does a part that is being written: NAME-1 is the next.
    bool is_beside = false;
  };

  ResumableFile(const std::string& path, Options options);
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;
  ~ResumableFile() { give_up(); }

  /// Looks for an earlier part, else for the file. There is no part where it is not known of what
  /// it is one, or where it is one of another URL than this; an empty URL stands for any.
  Result<void> look(std::string_view url);
  [[nodiscard]] Found found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] const PartOrigin& origin() const noexcept { return origin_; }
  /// The name that it is to have or, after keep(), that it has.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& part_path() const noexcept { return part_; }
  /// The last that could not be written: the part, its origin or the file.
  [[nodiscard]] const std::string& culprit() const noexcept { return *culprit_; }

  /// Whether a part that is given up now stays: there is some of it, and a server can be asked for
  /// the rest.
  [[nodiscard]] bool can_be_resumed() const noexcept {
    return options_.keeps_part && size_bytes_ != 0 && !origin_.validator.empty();
  }

  /// Another name in the same folder, before keep(); the part goes by the first.
  void rename(std::string path) { path_ = std::move(path); }
  /// Goes on behind the part that was found.
  void append() noexcept { is_ours_ = true; }
  /// Begins anew. An empty validator: the part cannot be gone on with.
  Result<void> start(PartOrigin origin);
  Result<void> write(std::string_view text) noexcept;
  /// When the server's file was last changed: that of keep() gets the same time.
  void set_modified(std::chrono::sys_seconds time) noexcept { modified_ = time; }
  /// Gives the file its name.
  Result<void> keep();
  /// There will be no more: a part that cannot be gone on with is removed.
  void give_up() noexcept;

 private:
  Result<bool> open(int flags) noexcept;
  Result<bool> open_next(int flags);
  void number_part(int number);
  void look_for_whole();
  Result<void> write_origin();
  Result<void> take_name();
  Error failure(const std::string& culprit, const char* call) noexcept;

  std::string path_;
  const std::string first_path_;
  const Options options_;
  std::string part_;
  std::string origin_path_;
  const std::string* culprit_ = &part_;
  PartOrigin origin_;
  std::optional<std::chrono::sys_seconds> modified_{};
  std::uint64_t size_bytes_ = 0;
  int descriptor_ = -1;
  Found found_ = Found::Nothing;
  bool is_ours_ = false;  // the part: what others left is not ours to remove
};

}  // namespace skua::client
