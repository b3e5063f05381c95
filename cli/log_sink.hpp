// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string_view>

namespace skua::cli {

/// Standard output, one whole line at a time, from any thread.
class LogSink {
 public:
  /// Writes a line that has its line feed; one that cannot be written is lost.
  void write(std::string_view line);

 private:
  std::mutex mutex_;
};

}  // namespace skua::cli
