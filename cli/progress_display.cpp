// SPDX-License-Identifier: MIT
#include "progress_display.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "terminal.hpp"

namespace skua::cli {
namespace {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

Transfer::Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

ProgressDisplay::ProgressDisplay(bool is_wanted)
    : is_shown_(is_wanted && is_terminal(STDERR_FILENO)) {}

std::size_t ProgressDisplay::add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                                 std::uint64_t begun_bytes) {
  const std::size_t number = board_.add(name, total_bytes, begun_bytes, now());
  draw();
  return number;
}

void ProgressDisplay::advance(std::size_t number, std::uint64_t done_bytes) {
  board_.advance(number, done_bytes, now());
  draw();
}

std::string ProgressDisplay::end(std::size_t number) {
  std::string summary = board_.end(number, now());
  draw();
  return summary;
}

void ProgressDisplay::tick() { draw(); }

void ProgressDisplay::clear() {
  if (is_shown_) put(board_.clear(terminal_columns(STDERR_FILENO)));
}

void ProgressDisplay::say(std::string_view lines) {
  clear();
  put(lines);
  draw();
}

void ProgressDisplay::draw() {
  if (is_shown_) put(board_.draw(terminal_columns(STDERR_FILENO), now()));
}

}  // namespace skua::cli
