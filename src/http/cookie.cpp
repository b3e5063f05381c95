// SPDX-License-Identifier: MIT
// In: a Cookie field, or a cookie to set with its options. Out: the value of one cookie, or a
// Set-Cookie field. A cookie that a browser would drop or read differently is refused where it is
// made.
#include "http/cookie.hpp"

#include <chrono>
#include <stdexcept>

#include "base/ascii.hpp"
#include "base/http_date.hpp"

namespace skua::http {
namespace {

// RFC 6265 §4.1.1: visible US-ASCII without DQUOTE, comma, semicolon and backslash.
constexpr bool is_cookie_octet(char c) noexcept {
  return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

bool is_cookie_value(std::string_view value) noexcept {
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  for (const char c : value) {
    if (!is_cookie_octet(c)) return false;
  }
  return true;
}

bool is_attribute(std::string_view value) noexcept {
  for (const char c : value) {
    if (c < 0x20 || c == 0x7f || c == ';') return false;
  }
  return true;
}

bool is_domain(std::string_view domain) noexcept {
  for (const char c : domain) {
    if (!ascii::is_alpha(c) && !ascii::is_digit(c) && c != '.' && c != '-') return false;
  }
  return true;
}

void check(std::string_view name, std::string_view value, const CookieOptions& options) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument("cookie: " + std::string(why));
  };
  if (!ascii::is_token_text(name)) refuse("the name is not a token");
  if (!is_cookie_value(value))
    refuse("the value has a character that no cookie can have; encode it");
  if (!is_attribute(options.path)) refuse("the path has a control character or a semicolon");
  if (!is_domain(options.domain)) refuse("the domain is not a host name");
  if (options.same_site == SameSite::None && !options.secure) {
    refuse("SameSite::None needs secure, else browsers drop it");
  }
  if (options.partitioned && !options.secure) {
    refuse("partitioned needs secure, else browsers drop it");
  }
  // RFC 6265bis §4.1.3: browsers drop a cookie that breaks the promise of its prefix.
  if (ascii::equals_ignoring_case(name.substr(0, 9), "__Secure-") && !options.secure) {
    refuse("a __Secure- name needs secure");
  }
  if (ascii::equals_ignoring_case(name.substr(0, 7), "__Host-") &&
      (!options.secure || options.path != "/" || !options.domain.empty())) {
    refuse("a __Host- name needs secure, the path / and no domain");
  }
}

constexpr std::string_view attribute(SameSite same_site) noexcept {
  switch (same_site) {
    case SameSite::None: return "; SameSite=None";
    case SameSite::Lax: return "; SameSite=Lax";
    case SameSite::Strict: return "; SameSite=Strict";
  }
  return {};
}

}  // namespace

std::optional<std::string_view> find_cookie(std::string_view field,
                                            std::string_view name) noexcept {
  while (!field.empty()) {
    const std::size_t end = field.find(';');
    const std::string_view pair = ascii::trim_ows(field.substr(0, end));
    field = end == field.npos ? std::string_view{} : field.substr(end + 1);
    const std::size_t equals = pair.find('=');
    if (equals != pair.npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
  }
  return std::nullopt;
}

std::string set_cookie(std::string_view name, std::string_view value,
                       const CookieOptions& options) {
  check(name, value, options);
  std::string out;
  out.append(name).append("=").append(value);
  // RFC 6265 §5.2.2: a Max-Age that is zero or negative deletes the cookie.
  if (options.max_age.count() > 0) {
    out.append("; Max-Age=").append(std::to_string(options.max_age.count()));
  } else if (options.max_age.count() < 0) {
    out.append("; Max-Age=0");
  }
  if (options.expires) {
    char date[http_date_bytes];
    format_http_date(std::chrono::floor<std::chrono::seconds>(*options.expires), date);
    out.append("; Expires=").append(date, http_date_bytes);
  }
  if (!options.path.empty()) out.append("; Path=").append(options.path);
  if (!options.domain.empty()) out.append("; Domain=").append(options.domain);
  if (options.secure) out.append("; Secure");
  if (options.http_only) out.append("; HttpOnly");
  out.append(attribute(options.same_site));
  if (options.partitioned) out.append("; Partitioned");
  return out;
}

}  // namespace skua::http
