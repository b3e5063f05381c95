// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace skua::cli {

/// Standard error, with a status line at its end while one is shown. Other lines are printed above
/// it. Any thread may call it.
class Console final {
 public:
  Console() = default;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Prints lines, each with its line feed. The status line is away until it is shown again.
  void say(std::string_view lines);
  /// Shows a status line of `width` columns instead of the last one. If the terminal is stopped,
  /// nothing happens.
  void show(std::string_view line, std::size_t width);
  /// Erases the status line.
  void clear();

 private:
  void erase();

  std::mutex mutex_;  // guards the terminal, too
  std::string shown_;
  std::size_t width_ = 0;  // of the line that is shown; 0: none
};

}  // namespace skua::cli
