// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

namespace skua::cli {

/// Standard output, one whole line at a time, from any thread.
class LogSink {
 public:
  /// Writes a line, which includes its line feed. A line that cannot be written is dropped; the
  /// first drop and the recovery are reported on stderr.
  void write(std::string_view line);

 private:
  void lose(int why);

  std::mutex mutex_;
  std::uint64_t lost_lines_ = 0;  // since the last written line; guarded by mutex_
};

}  // namespace skua::cli
