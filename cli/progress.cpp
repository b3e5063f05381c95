// SPDX-License-Identifier: MIT
// Formats lines such as `a.iso  [====>   ]   52%  1.2 GiB of 2.3 GiB  11.0 MiB/s  1:40 left`.
#include "progress.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/text/number_text.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr auto draw_interval = std::chrono::milliseconds(100);
constexpr auto sample_interval = std::chrono::milliseconds(250);
constexpr std::size_t max_samples = 20;  // five seconds
constexpr std::size_t widest_bar = 40;
constexpr std::size_t narrowest_bar = 8;

double seconds(Transfer::Time::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Returns the width in columns, assuming one per character.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::string out;
  for (const char c : text) {
    const bool begins = (c & 0xc0) != 0x80;
    if (begins && width(out) + 1 >= columns) break;
    out.push_back(c);
  }
  return columns == 0 ? "" : out + "~";
}

std::string bar(double share, std::size_t columns) {
  const std::size_t room = columns - 2;
  const auto filled = static_cast<std::size_t>(share * static_cast<double>(room));
  std::string out = "[";
  out.append(filled, '=');
  if (filled < room) out.append(1, '>').append(room - filled - 1, ' ');
  return out + "]";
}

}  // namespace

std::string size_text(std::uint64_t size_bytes) {
  constexpr std::array<const char*, 6> units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (size_bytes < 1024) return std::to_string(size_bytes) + " B";
  double size = static_cast<double>(size_bytes) / 1024;
  std::size_t unit = 0;
  for (; size >= 1023.95 && unit + 1 < units.size(); ++unit) size /= 1024;
  return base::fixed_text(size, 1) + " " + units[unit];
}

std::string clock_text(std::chrono::seconds time) {
  const long long all = std::max<long long>(0, time.count());
  std::array<char, 48> text;
  if (all >= 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld", all / 3600, all / 60 % 60,
                  all % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld:%02lld", all / 60, all % 60);
  }
  return text.data();
}

Transfer::Transfer(std::string_view name, std::optional<std::uint64_t> total_bytes,
                   std::uint64_t begun_bytes, Time now)
    : name_(harmless(name)),
      total_bytes_(total_bytes),
      begun_bytes_(begun_bytes),
      done_bytes_(begun_bytes),
      begun_(now) {
  std::replace(name_.begin(), name_.end(), '\n', ' ');
  std::replace(name_.begin(), name_.end(), '\t', ' ');
  samples_.push_back({now, begun_bytes});
}

void Transfer::advance(std::uint64_t done_bytes, Time now) {
  done_bytes_ = done_bytes;
  if (now - samples_.back().time < sample_interval) return;
  samples_.push_back({now, done_bytes});
  if (samples_.size() > max_samples) samples_.pop_front();
}

std::string Transfer::summary(Time now) const {
  const double time = seconds(now - begun_);
  if (time < 1) return size_text(done_bytes_);
  const double rate = static_cast<double>(done_bytes_ - begun_bytes_) / time;
  return size_text(done_bytes_) + " in " +
         clock_text(std::chrono::floor<std::chrono::seconds>(now - begun_)) + ", " +
         size_text(static_cast<std::uint64_t>(rate)) + "/s";
}

double Transfer::bytes_per_second(Time now) const {
  const double time = seconds(now - samples_.front().time);
  return time <= 0 ? 0 : static_cast<double>(done_bytes_ - samples_.front().done_bytes) / time;
}

std::string Transfer::numbers(Time now) const {
  const double rate = bytes_per_second(now);
  std::string text = size_text(done_bytes_);
  if (total_bytes_) text += " of " + size_text(*total_bytes_);
  text += "  " + size_text(static_cast<std::uint64_t>(rate)) + "/s";
  if (!total_bytes_) {
    text += "  " + clock_text(std::chrono::floor<std::chrono::seconds>(now - begun_));
  } else if (rate >= 1 && *total_bytes_ >= done_bytes_) {
    const double left = static_cast<double>(*total_bytes_ - done_bytes_) / rate;
    constexpr double most = 99 * 3600.0;
    text += "  " + clock_text(std::chrono::seconds(static_cast<long long>(std::min(left, most)))) +
            " left";
  }
  return text;
}

std::string Transfer::line(std::size_t columns, Time now) const {
  const std::string values = numbers(now);
  const std::size_t for_name = std::max<std::size_t>(columns / 3, 12);
  std::string text = cut(name_, for_name);
  if (total_bytes_ && *total_bytes_ != 0) {
    const double share =
        std::min(1.0, static_cast<double>(done_bytes_) / static_cast<double>(*total_bytes_));
    const std::size_t used = width(text) + width(values) + 10;  // spaces and ` 100%`
    if (columns >= used + narrowest_bar) {
      text += "  " + bar(share, std::min(columns - used, widest_bar));
    }
    std::array<char, 8> percent;
    std::snprintf(percent.data(), percent.size(), "%3d%%", static_cast<int>(share * 100));
    text.append("  ").append(percent.data());
  }
  return cut(text + "  " + values, columns);
}

std::size_t ProgressBoard::add(std::string_view name, std::optional<std::uint64_t> total_bytes,
                               std::uint64_t begun_bytes, Time now) {
  transfers_.emplace_back(name, total_bytes, begun_bytes, now);
  has_ended_.push_back(false);
  has_news_ = true;
  return transfers_.size() - 1;
}

std::string ProgressBoard::end(std::size_t number, Time now) {
  has_ended_[number] = true;
  has_news_ = true;
  return transfers_[number].summary(now);
}

std::string ProgressBoard::clear(std::size_t columns) {
  if (drawn_widths_.empty()) return "";
  std::size_t rows = 0;
  for (const std::size_t width : drawn_widths_) {
    rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  }
  drawn_widths_.clear();
  has_news_ = true;
  // Moves up to the first line and erases everything from there.
  return "\x1b[" + std::to_string(rows) + "A\r\x1b[J";
}

std::string ProgressBoard::draw(std::size_t columns, Time now) {
  const bool is_due = has_news_ || !drawn_ || now - *drawn_ >= draw_interval;
  if (!is_due || transfers_.empty()) return "";
  std::string out = clear(columns);
  // A full line would wrap on some terminals.
  const std::size_t room = std::max<std::size_t>(columns, 21) - 1;
  for (std::size_t i = 0; i < transfers_.size(); ++i) {
    if (has_ended_[i]) continue;
    const std::string line = transfers_[i].line(room, now);
    drawn_widths_.push_back(width(line));
    out.append(line).append("\n");
  }
  drawn_ = now;
  has_news_ = false;
  return out;
}

namespace {

void put(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

Transfer::Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

ProgressDisplay::ProgressDisplay(bool is_wanted)
    : is_shown_(is_wanted && is_terminal(standard_error)) {}

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
  if (is_shown_) put(board_.clear(terminal_columns(standard_error)));
}

void ProgressDisplay::say(std::string_view lines) {
  clear();
  put(lines);
  draw();
}

void ProgressDisplay::draw() {
  if (is_shown_) put(board_.draw(terminal_columns(standard_error), now()));
}

}  // namespace skua::cli
