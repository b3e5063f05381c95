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

/// `512 B`, `1.5 MiB`.
std::string size_text(std::uint64_t size_bytes);
/// `0:07`, `12:30`, `1:02:03`.
std::string clock_text(std::chrono::seconds time);

/// How far one transfer is, and how fast it was of late.
class Transfer final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// `begun_bytes` were there before.
  Transfer(std::string_view name, std::optional<std::uint64_t> total_bytes,
           std::uint64_t begun_bytes, Time now);

  void advance(std::uint64_t done_bytes, Time now);

  /// One line of at most `columns`, without its end.
  [[nodiscard]] std::string line(std::size_t columns, Time now) const;
  /// Once it is over: `1.2 MiB`, or `1.2 GiB in 1:40, 12.3 MiB/s` if it took a second or more.
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
/// It only makes the text: whoever has the terminal writes it.
class ProgressBoard final {
 public:
  using Time = Transfer::Time;

  /// Returns its number, for the calls below.
  std::size_t add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                  std::uint64_t begun_bytes, Time now);
  void advance(std::size_t number, std::uint64_t done_bytes, Time now) {
    transfers_[number].advance(done_bytes, now);
  }
  /// Takes a transfer off the board; returns its summary.
  std::string end(std::size_t number, Time now);

  /// What to write to show the present state; nothing if that was done a moment ago.
  [[nodiscard]] std::string draw(std::size_t columns, Time now);
  /// What to write to remove the lines of the board from a terminal that has `columns` now: it may
  /// have been resized, which wraps lines that have become too long.
  [[nodiscard]] std::string clear(std::size_t columns);

 private:
  std::vector<Transfer> transfers_;
  std::vector<bool> has_ended_;
  std::optional<Time> drawn_{};
  std::vector<std::size_t> drawn_widths_;  // of the lines that are drawn, the cursor below them
  bool has_news_ = false;                  // that do not wait
};

/// How wide a terminal is; 80 where it does not say.
std::size_t terminal_columns(int descriptor) noexcept;

}  // namespace skua::cli
