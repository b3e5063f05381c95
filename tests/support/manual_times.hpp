// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>

#include "files/file_head.hpp"

namespace skua::support {

/// A clock that only a test moves. It begins a day ahead of the system clock, so that the test's
/// files are old.
class ManualTimes final : public files::TimeSource {
 public:
  [[nodiscard]] loop::Instant now() const noexcept override { return now_; }
  [[nodiscard]] files::WallTime wall() const noexcept override { return wall_; }
  void advance(Duration by) {
    now_ += by;
    wall_ += by;
  }
  void set_wall(files::WallTime wall) { wall_ = wall; }

 private:
  loop::Instant now_{Duration(1h)};
  files::WallTime wall_ = std::chrono::system_clock::now() + std::chrono::hours(24);
};

/// Sets a file's modification time.
inline void set_modified(const std::filesystem::path& file, std::chrono::nanoseconds since_1970) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_1970);
  timespec times[2] = {};
  times[0].tv_nsec = UTIME_OMIT;
  times[1].tv_sec = static_cast<std::time_t>(seconds.count());
  times[1].tv_nsec = static_cast<long>((since_1970 - seconds).count());
  utimensat(AT_FDCWD, file.c_str(), times, 0);
}

}  // namespace skua::support
