// SPDX-License-Identifier: MIT
// One system call a line: what a reader of the other end sees is never half a line, nor late.
#include "log_sink.hpp"

#include <unistd.h>

#include <cerrno>

namespace skua::cli {

void LogSink::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  while (!line.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, line.data(), line.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    line.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace skua::cli
