// SPDX-License-Identifier: MIT
#pragma once

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
  const std::chrono::sys_time<std::chrono::nanoseconds> time(since_1970);
  std::filesystem::last_write_time(file, std::chrono::file_clock::from_sys(time));
}

}  // namespace skua::support
