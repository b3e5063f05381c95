// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "loop/loop.hpp"
#include "skua/task.hpp"

namespace skua::cli {

/// The lines of standard input, read by a separate thread, one block at a time.
///
/// Lifetime:  the loop outlives it. The destructor stops the thread.
class InputLines final {
 public:
  static constexpr std::size_t longest_line_bytes = 64U << 20U;

  explicit InputLines(loop::Loop& loop);
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;
  ~InputLines();

  /// Returns the next line, without its end; nullopt at the end of input. One call at a time.
  ///
  /// Waits for: a line.
  /// Ends with: std::runtime_error if a line is longer than `longest_line_bytes`.
  Task<std::optional<std::string>> next();

 private:
  struct Shared;

  static void read_all(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // also owned by the thread and its posts
  std::thread thread_;
};

}  // namespace skua::cli
