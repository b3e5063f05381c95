// SPDX-License-Identifier: MIT
// In: the value of a Set-Cookie field. Out: the cookie, or the reason to ignore it. The steps and
// their order are those of RFC 6265bis §5.6, plus those of §5.7 that need only the field.
#include "http/cookie/set_cookie.hpp"

#include <algorithm>

#include "base/ascii.hpp"
#include "http/cookie/cookie.hpp"
#include "loop/clock.hpp"
#include "skua/cookie.hpp"

namespace skua {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds longest_life = std::chrono::days(400);  // RFC 6265bis §5.5

Error ignored(const char* why) noexcept { return {Errc::MalformedCookie, why}; }

constexpr bool is_forbidden(char c) noexcept {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
}

struct Pair {
  std::string_view name{};
  std::string_view value{};
  bool has_equals = false;
};

// Takes the text up to the next ';', split at its first '='.
Pair take_pair(std::string_view& text) noexcept {
  const std::size_t end = text.find(';');
  const std::string_view pair = text.substr(0, end);
  text = end == text.npos ? std::string_view{} : text.substr(end + 1);
  const std::size_t equals = pair.find('=');
  if (equals == pair.npos) return {ascii::trim_ows(pair), {}, false};
  return {ascii::trim_ows(pair.substr(0, equals)), ascii::trim_ows(pair.substr(equals + 1)), true};
}

// RFC 6265bis §5.6.2: numbers that are too large saturate.
std::optional<seconds> read_max_age(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  seconds::rep value = 0;
  for (const char c : text) {
    if (!ascii::is_digit(c)) return std::nullopt;
    value = std::min<seconds::rep>(value * 10 + (c - '0'), longest_life.count());
  }
  return seconds(is_negative ? 0 : value);
}

std::optional<SameSite> read_same_site(std::string_view text) noexcept {
  if (ascii::equals_ignoring_case(text, "None")) return SameSite::None;
  if (ascii::equals_ignoring_case(text, "Lax")) return SameSite::Lax;
  if (ascii::equals_ignoring_case(text, "Strict")) return SameSite::Strict;
  return std::nullopt;
}

std::string lower_without_dot(std::string_view domain) {
  if (domain.starts_with('.')) domain.remove_prefix(1);
  std::string lower(domain);
  std::transform(lower.begin(), lower.end(), lower.begin(), ascii::to_lower);
  return lower;
}

void take_attribute(SetCookie& cookie, const Pair& pair) {
  const auto is = [&pair](std::string_view name) {
    return ascii::equals_ignoring_case(pair.name, name);
  };
  if (is("Expires")) {
    if (const auto time = http::parse_cookie_date(pair.value)) cookie.expires = time;
  } else if (is("Max-Age")) {
    if (const auto age = read_max_age(pair.value)) cookie.max_age = age;
  } else if (is("Domain")) {
    cookie.domain = lower_without_dot(pair.value);
  } else if (is("Path")) {
    cookie.path = pair.value.starts_with('/') ? pair.value : std::string_view{};
  } else if (is("Secure")) {
    cookie.secure = true;
  } else if (is("HttpOnly")) {
    cookie.http_only = true;
  } else if (is("SameSite")) {
    cookie.same_site = read_same_site(pair.value);
  } else if (is("Partitioned")) {
    cookie.partitioned = true;
  }
}

// Checks the conditions under which RFC 6265bis §5.7 ignores a cookie because of its attributes.
Result<void> check_promises(const SetCookie& cookie) noexcept {
  if (!cookie.secure && cookie.same_site == SameSite::None) {
    return ignored("cookie: SameSite=None without Secure");
  }
  if (!cookie.secure && cookie.partitioned) return ignored("cookie: Partitioned without Secure");
  // A server would read a nameless value as a cookie with a prefixed name.
  if (cookie.name.empty() && http::cookie_prefix(cookie.value) != http::CookiePrefix::None) {
    return ignored("cookie: a nameless value starts with a reserved prefix");
  }
  const http::CookiePrefix prefix = http::cookie_prefix(cookie.name);
  if (prefix != http::CookiePrefix::None && !cookie.secure) {
    return ignored("cookie: a reserved name prefix without Secure");
  }
  if (prefix == http::CookiePrefix::Host && (!cookie.domain.empty() || cookie.path != "/")) {
    return ignored("cookie: __Host- with a domain or a path other than /");
  }
  return {};
}

}  // namespace

Result<SetCookie> SetCookie::parse(std::string_view field) {
  if (std::any_of(field.begin(), field.end(), is_forbidden)) {
    return ignored("cookie: contains a control character");
  }
  Pair first = take_pair(field);
  if (!first.has_equals) std::swap(first.name, first.value);
  if (first.name.empty() && first.value.empty()) return ignored("cookie: neither name nor value");
  if (first.name.size() + first.value.size() > http::max_cookie_bytes) {
    return ignored("cookie: too long");
  }
  SetCookie cookie;
  cookie.name = first.name;
  cookie.value = first.value;
  while (!field.empty()) {
    const Pair pair = take_pair(field);
    if (pair.value.size() <= http::max_cookie_attribute_bytes) take_attribute(cookie, pair);
  }
  if (const Result<void> kept = check_promises(cookie); !kept) return kept.error();
  return cookie;
}

std::optional<sys_seconds> SetCookie::expiry(sys_seconds now) const noexcept {
  if (max_age) {
    return max_age->count() <= 0 ? sys_seconds{} : later(now, std::min(*max_age, longest_life));
  }
  if (expires) return std::min(*expires, later(now, longest_life));
  return std::nullopt;
}

}  // namespace skua

// In: the text of an Expires attribute. Out: the time that browsers read from it. The text is split
// into tokens, and each is tried as a time, day, month and year, in this order. The first match of
// each wins, wherever it is.

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
