// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

namespace skua::cli {

/// Standard output, one whole line at a time, from any thread.
class LogSink {
 public:
  /// Writes a line that has its line feed; one that cannot be written is lost, which standard error
  /// is told when it begins and when it ends.
  void write(std::string_view line);

 private:
  void lose(int why);

  std::mutex mutex_;
  std::uint64_t lost_lines_ = 0;  // since the last that was written; guarded by mutex_
};

}  // namespace skua::cli
