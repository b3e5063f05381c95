// SPDX-License-Identifier: MIT
// In: the value of a Set-Cookie field. Out: the cookie, or the reason to ignore it. The steps and
// their order are those of RFC 6265bis §5.6, plus those of §5.7 that need only the field.
#include <algorithm>

#include "base/ascii.hpp"
#include "base/later.hpp"
#include "http/cookie.hpp"
#include "http/cookie_date.hpp"
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
