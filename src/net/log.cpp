// SPDX-License-Identifier: MIT
#include "net/log.hpp"

#include <new>
#include <string>
#include <utility>

namespace skua::net {

Log quiet(Log log) {
  if (!log) return log;
  return [log = std::move(log)](LogLevel level, std::string_view text) {
    try {
      log(level, text);
    } catch (...) {
      return;
    }
  };
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

}  // namespace skua::net
