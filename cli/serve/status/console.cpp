// SPDX-License-Identifier: MIT
// The cursor stays behind the status line, so that the `^C` that a terminal echoes is erased with
// it.
#include "serve/status/console.hpp"

#include <cstdio>

#include "system.hpp"

namespace skua::cli {
namespace {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

void Console::say(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  erase();
  put(lines);
}

void Console::show(std::string_view line, std::size_t width) {
  const std::lock_guard lock(mutex_);
  if ((width_ != 0 && line == shown_) || !can_write(standard_error)) return;
  erase();
  put(line);
  shown_ = line;
  width_ = width;
}

void Console::clear() {
  const std::lock_guard lock(mutex_);
  erase();
}

// A terminal that was made narrower since has wrapped the line.
void Console::erase() {
  if (width_ == 0) return;
  const std::size_t columns = terminal_columns(standard_error);
  const std::size_t rows_above = (width_ - 1) / columns;
  width_ = 0;
  if (rows_above == 0) return put("\r\x1b[J");
  put("\x1b[" + std::to_string(rows_above) + "A\r\x1b[J");
}

}  // namespace skua::cli
