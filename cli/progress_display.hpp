// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "progress.hpp"

namespace skua::cli {

/// A progress board on standard error, shown only if that is a terminal and progress is wanted, and
/// the messages above it.
class ProgressDisplay final {
 public:
  explicit ProgressDisplay(bool is_wanted);

  [[nodiscard]] bool is_shown() const noexcept { return is_shown_; }
  std::size_t add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                  std::uint64_t begun_bytes);
  void advance(std::size_t number, std::uint64_t done_bytes);
  /// Removes a transfer from the display; returns its summary.
  std::string end(std::size_t number);
  /// Redraws the board if due, so that a rate falls when nothing arrives.
  void tick();
  /// Erases the board until the next draw, so that others can write to the terminal.
  void clear();
  /// Prints lines, each with its line feed, above the board.
  void say(std::string_view lines);

 private:
  void draw();

  ProgressBoard board_;
  bool is_shown_;
};

}  // namespace skua::cli
