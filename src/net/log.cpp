// SPDX-License-Identifier: MIT
#include "net/log.hpp"

#include "async/guarded.hpp"

#include <cstdio>
#include <new>
#include <string>
#include <utility>

namespace skua::net {

namespace {

struct QuietLog {
  Log log;

  void operator()(LogLevel level, std::string_view text) const {
    try {
      log(level, text);
    } catch (...) {
      return;
    }
  }
};

}  // namespace

Log quiet(Log log) {
  if (!log) return log;
  return QuietLog{std::move(log)};
}

void tell(const Log& log, LogLevel level, Error error) noexcept try {
  if (log) log(level, error.message());
} catch (const std::bad_alloc&) {
  return;
}

void tell(const Log& log, LogLevel level, std::initializer_list<std::string_view> pieces) noexcept
    try {
  if (!log) return;
  std::string line;
  for (const std::string_view piece : pieces) line.append(piece);
  log(level, line);
} catch (const std::bad_alloc&) {
  return;
}

Log to_standard_error() {
  return [](LogLevel level, std::string_view text) {
    if (level < LogLevel::Warning) return;
    std::string line(level == LogLevel::Error ? "error: " : "warning: ");
    for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);  // at once: threads do not mix their lines
  };
}

void call_guarded(void (*call)(const void* context), const void* context, const char* name,
                  const Log& log) noexcept {
  async::guarded([&] { call(context); },
                 [&](std::string_view why) noexcept {
                   tell(log, LogLevel::Error, {"the callback ", name, " failed: ", why});
                 });
}

}  // namespace skua::net
