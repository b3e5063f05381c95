// SPDX-License-Identifier: MIT
// In: times, or dates in the three formats of RFC 9110 §5.6.7. Out: IMF-fixdates, or times. No
// locale, no time zone, no C library: the calendar is that of std::chrono. Names are
// case-sensitive, as the RFC says.
#include "base/http_date.hpp"

#include <algorithm>
#include <cstring>

#include "base/ascii.hpp"

namespace skua {
namespace {

using namespace std::chrono;

constexpr std::string_view weekdays = "SunMonTueWedThuFriSat";
constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::string_view long_weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};

void put_two(char* out, unsigned number) noexcept {
  out[0] = static_cast<char>('0' + number / 10 % 10);
  out[1] = static_cast<char>('0' + number % 10);
}

/// A parser that consumes text from the front and fails for good at the first mismatch.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  void literal(std::string_view wanted) noexcept {
    if (text_.starts_with(wanted)) {
      text_.remove_prefix(wanted.size());
    } else {
      ok_ = false;
    }
  }
  /// Parses exactly `digits` digits; with `padded`, the first may be a space.
  unsigned number(std::size_t digits, bool padded = false) noexcept {
    unsigned value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      const char c = i < text_.size() ? text_[i] : '\0';
      if (padded && i == 0 && c == ' ') continue;
      if (!ascii::is_digit(c)) return fail();
      value = value * 10 + static_cast<unsigned>(c - '0');
    }
    text_.remove_prefix(digits);
    return value;
  }
  /// Parses a three-letter name and returns its index in `names`.
  unsigned name(std::string_view names) noexcept {
    for (std::size_t i = 0; i < names.size(); i += 3) {
      if (!text_.starts_with(names.substr(i, 3))) continue;
      text_.remove_prefix(3);
      return static_cast<unsigned>(i / 3);
    }
    return fail();
  }
  seconds time_of_day() noexcept {
    const unsigned hour = number(2);
    literal(":");
    const unsigned minute = number(2);
    literal(":");
    const unsigned second = number(2);
    // 60 is a leap second, which sys_seconds lacks, so it becomes the next minute's first second.
    if (hour > 23 || minute > 59 || second > 60) return seconds(fail());
    return hours(hour) + minutes(minute) + seconds(second);
  }
  /// Whether the whole text was consumed without a mismatch.
  [[nodiscard]] bool is_done() const noexcept { return ok_ && text_.empty(); }

 private:
  unsigned fail() noexcept {
    ok_ = false;
    return 0;
  }

  std::string_view text_;
  bool ok_ = true;
};

std::optional<sys_seconds> make_time(const Reader& reader, int y, unsigned m, unsigned d,
                                     seconds time) noexcept {
  const year_month_day date{year(y), month(m + 1), day(d)};
  if (!reader.is_done() || !date.ok()) return std::nullopt;
  return sys_days(date) + time;
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`
std::optional<sys_seconds> parse_imf(std::string_view text) noexcept {
  Reader reader(text);
  reader.name(weekdays);
  reader.literal(", ");
  const unsigned d = reader.number(2);
  reader.literal(" ");
  const unsigned m = reader.name(months);
  reader.literal(" ");
  const unsigned y = reader.number(4);
  reader.literal(" ");
  const seconds time = reader.time_of_day();
  reader.literal(" GMT");
  return make_time(reader, static_cast<int>(y), m, d, time);
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
std::optional<sys_seconds> parse_rfc850(std::string_view text, sys_seconds now) noexcept {
  const std::size_t comma = text.find(',');
  if (comma == text.npos) return std::nullopt;
  const std::string_view weekday_name = text.substr(0, comma);
  if (std::find(std::begin(long_weekdays), std::end(long_weekdays), weekday_name) ==
      std::end(long_weekdays)) {
    return std::nullopt;
  }
  Reader reader(text.substr(comma));
  reader.literal(", ");
  const unsigned d = reader.number(2);
  reader.literal("-");
  const unsigned m = reader.name(months);
  reader.literal("-");
  const unsigned two_digits = reader.number(2);
  reader.literal(" ");
  const seconds time = reader.time_of_day();
  reader.literal(" GMT");
  const int this_year = static_cast<int>(year_month_day(floor<days>(now)).year());
  int y = this_year / 100 * 100 + static_cast<int>(two_digits);
  if (y > this_year + 50) y -= 100;
  return make_time(reader, y, m, d, time);
}

/// `Sun Nov  6 08:49:37 1994`
std::optional<sys_seconds> parse_asctime(std::string_view text) noexcept {
  Reader reader(text);
  reader.name(weekdays);
  reader.literal(" ");
  const unsigned m = reader.name(months);
  reader.literal(" ");
  const unsigned d = reader.number(2, true);
  reader.literal(" ");
  const seconds time = reader.time_of_day();
  reader.literal(" ");
  const unsigned y = reader.number(4);
  return make_time(reader, static_cast<int>(y), m, d, time);
}

}  // namespace

void format_http_date(sys_seconds time, std::span<char, http_date_bytes> out) noexcept {
  constexpr sys_seconds first = sys_days(year(0) / January / 1);
  constexpr sys_seconds last = sys_days(year(9999) / December / 31) + hours(24) - seconds(1);
  time = std::clamp(time, first, last);
  const sys_days date = floor<days>(time);
  const year_month_day civil(date);
  const auto clock = static_cast<unsigned>((time - date).count());
  const auto y = static_cast<unsigned>(static_cast<int>(civil.year()));
  char* const p = out.data();
  std::memcpy(p, "???, ?? ??? ???? ??:??:?? GMT", http_date_bytes);
  std::memcpy(p, &weekdays[3 * weekday(date).c_encoding()], 3);
  put_two(p + 5, static_cast<unsigned>(civil.day()));
  std::memcpy(p + 8, &months[3 * (static_cast<unsigned>(civil.month()) - 1)], 3);
  put_two(p + 12, y / 100);
  put_two(p + 14, y % 100);
  put_two(p + 17, clock / 3600);
  put_two(p + 20, clock / 60 % 60);
  put_two(p + 23, clock % 60);
}

std::optional<sys_seconds> parse_http_date(std::string_view text, sys_seconds now) noexcept {
  if (text.size() < 4) return std::nullopt;
  if (text[3] == ',') return parse_imf(text);
  if (text[3] == ' ') return parse_asctime(text);
  return parse_rfc850(text, now);
}

}  // namespace skua
