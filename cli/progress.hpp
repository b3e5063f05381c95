// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {

/// Formats a size: `512 B`, `1.5 MiB`.
std::string size_text(std::uint64_t size_bytes);
/// Formats a time: `0:07`, `12:30`, `1:02:03`.
std::string clock_text(std::chrono::seconds time);

/// The progress and recent speed of one transfer.
class Transfer final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `begun_bytes` are there from an earlier attempt.
  Transfer(std::string_view name, std::optional<std::uint64_t> total_bytes,
           std::uint64_t begun_bytes, Time now);

  void advance(std::uint64_t done_bytes, Time now);

  /// Returns a line of at most `columns`, without a line feed.
  [[nodiscard]] std::string line(std::size_t columns, Time now) const;
  /// Returns the result: `1.2 MiB`, or `1.2 GiB in 1:40, 12.3 MiB/s` after a second or more.
  [[nodiscard]] std::string summary(Time now) const;

 private:
  struct Sample {
    Time time;
    std::uint64_t done_bytes;
  };

  [[nodiscard]] double bytes_per_second(Time now) const;
  [[nodiscard]] std::string numbers(Time now) const;

  std::string name_;
  std::optional<std::uint64_t> total_bytes_;
  std::uint64_t begun_bytes_;
  std::uint64_t done_bytes_;
  Time begun_;
  std::deque<Sample> samples_;  // of the last seconds, the oldest first
};

/// The lines of several transfers at the bottom of a terminal, drawn at most ten times a second.
///
/// It only creates text; the caller writes it to the terminal.
class ProgressBoard final {
 public:
  using Time = Transfer::Time;

  /// Adds a transfer; returns its number, for the calls below.
  std::size_t add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                  std::uint64_t begun_bytes, Time now);
  void advance(std::size_t number, std::uint64_t done_bytes, Time now) {
    transfers_[number].advance(done_bytes, now);
  }
  /// Removes a transfer from the board; returns its summary.
  std::string end(std::size_t number, Time now);

  /// Returns the text that shows the current state; empty if it was drawn a moment ago.
  [[nodiscard]] std::string draw(std::size_t columns, Time now);
  /// Returns the text that erases the board's lines. `columns` is the current width: lines that are
  /// too long for a resized terminal are wrapped.
  [[nodiscard]] std::string clear(std::size_t columns);

 private:
  std::vector<Transfer> transfers_;
  std::vector<bool> has_ended_;
  std::optional<Time> drawn_{};
  std::vector<std::size_t> drawn_widths_;  // of the drawn lines, above the cursor
  bool has_news_ = false;                  // to draw without delay
};

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
