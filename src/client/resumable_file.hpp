// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::client {

/// A file that is downloaded in one go or in several: `PATH.part`, and beside it `PATH.part.tag`,
/// which says of what it is a part. The whole file has the server's time of its last change. It
/// blocks: to be used off the loop.
///
/// Ends with: SystemFailure (EBUSY), from append() and start(), where another one writes that part.
class ResumableFile {
 public:
  /// What look() has found.
  enum class Found : std::uint8_t {
    Nothing,
    Part,   ///< of what validator() is of
    Whole,  ///< the file itself; validator() is its time
  };

  /// With `resumes` a part stays when it is given up, if it can be gone on with.
  ResumableFile(const std::string& path, bool resumes);
  ResumableFile(const ResumableFile&) = delete;
  ResumableFile& operator=(const ResumableFile&) = delete;
  ~ResumableFile() { give_up(); }

  /// Looks for an earlier part, else for the file. There is no part where it is not known of what
  /// it is one.
  Result<void> look();
  [[nodiscard]] Found found() const noexcept { return found_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// An entity tag or a date, for If-Range.
  [[nodiscard]] const std::string& validator() const noexcept { return validator_; }

  /// Goes on behind the part that is there.
  Result<void> append() noexcept;
  /// Begins anew. An empty validator: the part cannot be gone on with.
  Result<void> start(std::string_view validator);
  Result<void> write(std::string_view text) noexcept;
  /// When the server's file was last changed: that of keep() gets the same time.
  void set_modified(std::chrono::sys_seconds time) noexcept { modified_ = time; }
  /// Gives the file its name, in place of any that has it.
  Result<void> keep() noexcept;
  /// There will be no more: a part that cannot be gone on with is removed.
  void give_up() noexcept;

 private:
  Result<std::uint64_t> open() noexcept;
  Result<void> look_for_whole();

  const std::string path_;
  const std::string part_;
  const std::string tag_;
  const bool resumes_;
  std::string validator_;
  std::optional<std::chrono::sys_seconds> modified_{};
  std::uint64_t size_bytes_ = 0;
  int descriptor_ = -1;
  Found found_ = Found::Nothing;
  bool is_ours_ = false;  // the part: nobody else writes it
};

}  // namespace skua::client
