// SPDX-License-Identifier: MIT
// In: the text of an Expires attribute. Out: the time that browsers read from it. The text is split
// into tokens, and each is tried as a time, day, month and year, in this order. The first match of
// each wins, wherever it is.
#include "http/cookie_date.hpp"

#include "base/ascii.hpp"

namespace skua::http {
namespace {

using namespace std::chrono;

constexpr bool is_delimiter(char c) noexcept {
  const auto octet = static_cast<unsigned char>(c);
  return octet == 0x09 || (octet >= 0x20 && octet <= 0x2f) || (octet >= 0x3b && octet <= 0x40) ||
         (octet >= 0x5b && octet <= 0x60) || (octet >= 0x7b && octet <= 0x7e);
}

std::string_view take_date_token(std::string_view& text) noexcept {
  while (!text.empty() && is_delimiter(text.front())) text.remove_prefix(1);
  std::size_t size = 0;
  while (size < text.size() && !is_delimiter(text[size])) ++size;
  const std::string_view token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

// Takes a number of `least` to `most` digits that no further digit follows.
std::optional<unsigned> take_number(std::string_view& text, std::size_t least,
                                    std::size_t most) noexcept {
  unsigned value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && ascii::is_digit(text[digits]); ++digits) {
    if (digits == most) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(text[digits] - '0');
  }
  if (digits < least) return std::nullopt;
  text.remove_prefix(digits);
  return value;
}

std::optional<unsigned> read_number(std::string_view token, std::size_t least,
                                    std::size_t most) noexcept {
  return take_number(token, least, most);
}

struct TimeOfDay {
  unsigned hour;
  unsigned minute;
  unsigned second;
};

std::optional<TimeOfDay> read_time(std::string_view token) noexcept {
  const auto hour = take_number(token, 1, 2);
  if (!hour || !token.starts_with(':')) return std::nullopt;
  token.remove_prefix(1);
  const auto minute = take_number(token, 1, 2);
  if (!minute || !token.starts_with(':')) return std::nullopt;
  token.remove_prefix(1);
  const auto second = take_number(token, 1, 2);
  if (!second) return std::nullopt;
  return TimeOfDay{*hour, *minute, *second};
}

std::optional<unsigned> read_month(std::string_view token) noexcept {
  constexpr std::string_view names = "janfebmaraprmayjunjulaugsepoctnovdec";
  for (unsigned i = 0; i < 12; ++i) {
    if (ascii::equals_ignoring_case(token.substr(0, 3), names.substr(3U * i, 3))) return i + 1;
  }
  return std::nullopt;
}

// The components found so far; the first match of each counts.
struct Found {
  std::optional<TimeOfDay> time{};
  std::optional<unsigned> day{};
  std::optional<unsigned> month{};
  std::optional<unsigned> year{};

  void read(std::string_view token) noexcept {
    if (take(time, read_time(token))) return;
    if (take(day, read_number(token, 1, 2))) return;
    if (take(month, read_month(token))) return;
    take(year, read_number(token, 2, 4));
  }

 private:
  template <class T>
  static bool take(std::optional<T>& wanted, const std::optional<T>& read) noexcept {
    if (wanted || !read) return false;
    wanted = read;
    return true;
  }
};

}  // namespace

std::optional<sys_seconds> parse_cookie_date(std::string_view text) noexcept {
  Found found;
  while (!text.empty()) found.read(take_date_token(text));
  if (!found.time || !found.day || !found.month || !found.year) return std::nullopt;
  unsigned full_year = *found.year;
  if (full_year >= 70 && full_year <= 99) full_year += 1900;
  if (full_year <= 69) full_year += 2000;
  const auto [hour, minute, second] = *found.time;
  const year_month_day date{year(static_cast<int>(full_year)), month(*found.month),
                            day(*found.day)};
  if (full_year < 1601 || hour > 23 || minute > 59 || second > 59 || !date.ok()) {
    return std::nullopt;
  }
  return sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
}

}  // namespace skua::http
