// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "loop/loop.hpp"
#include "skua/task.hpp"

namespace skua::cli {

/// The lines of the standard input, read by a thread of its own, never far ahead of whoever takes
/// them.
///
/// Lifetime:  the loop outlives it. Destroyed, it stops reading.
class InputLines final {
 public:
  static constexpr std::size_t longest_line_bytes = 64U << 20U;

  explicit InputLines(loop::Loop& loop);
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;
  ~InputLines();

  /// The next line, without its end; nothing at the end of the input. One at a time.
  ///
  /// Waits for: a line.
  /// Ends with: std::runtime_error for a line that is longer than `longest_line_bytes`.
  Task<std::optional<std::string>> next();

 private:
  struct Shared;

  static void read_all(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // with the thread, and with what it posts
  std::thread thread_;
};

}  // namespace skua::cli
