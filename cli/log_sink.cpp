// SPDX-License-Identifier: MIT
// One system call per line, unbuffered, so that a reader normally sees only whole lines.
#include "log_sink.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "base/disk.hpp"
#include "system.hpp"

namespace skua::cli {

void LogSink::write(std::string_view line) {
  const std::lock_guard lock(mutex_);
  while (!line.empty()) {
    const auto count = disk::write(standard_output, line.data(), line.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return lose(errno);
    line.remove_prefix(static_cast<std::size_t>(count));
  }
  if (lost_lines_ == 0) return;
  std::fprintf(stderr, "skua: standard output is writable again; %llu log line(s) were lost\n",
               static_cast<unsigned long long>(std::exchange(lost_lines_, 0)));
}

// Reported once, not per line: a full disk or closed pipe tends to stay that way.
void LogSink::lose(int why) {
  if (++lost_lines_ != 1) return;
  std::fprintf(stderr, "skua: cannot write to standard output: %s; dropping log lines\n",
               std::generic_category().message(why).c_str());
}

}  // namespace skua::cli
