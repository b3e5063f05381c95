// SPDX-License-Identifier: MIT
// In: cookies to set or to send back. Out: the value of a Set-Cookie or Cookie field, in today's
// form or in one of its two predecessors. A cookie that a browser would drop or read differently is
// refused here.
#include <chrono>
#include <stdexcept>

#include "base/ascii.hpp"
#include "base/http_date.hpp"
#include "base/percent.hpp"
#include "http/cookie/cookie.hpp"
#include "skua/cookie.hpp"
#include "skua/url.hpp"

namespace skua {
namespace {

[[noreturn]] void refuse(const char* why) {
  throw std::invalid_argument("cookie: " + std::string(why));
}

// RFC 6265 §4.1.1: visible US-ASCII without DQUOTE, comma, semicolon and backslash.
constexpr bool is_cookie_octet(char c) noexcept {
  return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

std::string_view without_quotes(std::string_view value) noexcept {
  const bool is_quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

bool is_cookie_value(std::string_view value) noexcept {
  for (const char c : without_quotes(value)) {
    if (!is_cookie_octet(c)) return false;
  }
  return true;
}

bool is_path(std::string_view path) noexcept {
  for (const char c : path) {
    if (ascii::is_control(c) || c == ';' || static_cast<unsigned char>(c) > 0x7f) return false;
  }
  return path.empty() || path.front() == '/';
}

bool is_domain(std::string_view domain) noexcept {
  for (const char c : domain) {
    if (!ascii::is(c, ascii::Alpha | ascii::Digit) && c != '.' && c != '-') return false;
  }
  return true;
}

void check(std::string_view name, std::string_view value, const CookieOptions& options) {
  if (!ascii::is_token_text(name)) refuse("the name is not a token");
  if (!is_cookie_value(value)) {
    refuse("the value contains a character not allowed in cookies; encode it");
  }
  // RFC 6265bis §5.6: browsers ignore longer cookies and attributes.
  if (name.size() + value.size() > http::max_cookie_bytes) refuse("name and value are too long");
  if (options.path.size() > http::max_cookie_attribute_bytes ||
      options.domain.size() > http::max_cookie_attribute_bytes) {
    refuse("the path or domain is too long for browsers");
  }
  if (!is_path(options.path)) refuse("the path has an invalid character or no leading slash");
  if (!is_domain(options.domain)) refuse("the domain is not a host name");
  if (options.same_site == SameSite::None && !options.secure) {
    refuse("SameSite::None requires secure, or browsers drop the cookie");
  }
  if (options.partitioned && !options.secure) {
    refuse("partitioned requires secure, or browsers drop the cookie");
  }
  // RFC 6265bis §4.1.3: browsers drop a cookie that breaks the promise of its prefix.
  const http::CookiePrefix prefix = http::cookie_prefix(name);
  if (prefix == http::CookiePrefix::Secure && !options.secure) {
    refuse("a __Secure- name requires secure");
  }
  if (prefix == http::CookiePrefix::Host &&
      (!options.secure || options.path != "/" || !options.domain.empty())) {
    refuse("a __Host- name requires secure, the path / and no domain");
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

void append_quoted_value(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// Appends `; Name=value`, or `; Name="value"` for RFC 2109.
void append_attribute(std::string& out, CookieForm form, std::string_view name,
                      std::string_view value) {
  out.append("; ").append(name).append("=");
  if (form == CookieForm::Rfc2109) {
    append_quoted_value(out, value);
  } else {
    out += value;
  }
}

void append_expires(std::string& out, CookieForm form, std::chrono::sys_seconds time) {
  char date[http_date_bytes];
  format_http_date(time, date);
  if (form == CookieForm::Netscape) date[7] = date[11] = '-';  // Sun, 06-Nov-1994
  out.append("; Expires=").append(date, http_date_bytes);
}

// Appends the lifetime, as far as the form can express it.
void append_life(std::string& out, CookieForm form, const CookieOptions& options) {
  const auto age = options.max_age.count();
  if (form != CookieForm::Netscape && age != 0) {
    // RFC 6265 §5.2.2: a Max-Age that is zero or negative deletes the cookie.
    append_attribute(out, form, "Max-Age", std::to_string(age < 0 ? 0 : age));
  }
  if (form == CookieForm::Netscape && age < 0) return append_expires(out, form, {});
  if (options.expires) {
    append_expires(out, form, std::chrono::floor<std::chrono::seconds>(*options.expires));
  } else if (form == CookieForm::Netscape && age > 0) {
    refuse("the Netscape form has no Max-Age; give expires");
  }
}

}  // namespace

std::string format_set_cookie(std::string_view name, std::string_view value,
                              const CookieOptions& options, CookieForm form) {
  check(name, value, options);
  if (form == CookieForm::Rfc2109 && http::cookie_prefix(name) == http::CookiePrefix::Host) {
    refuse("RFC 2109 quotes the path, and browsers drop a __Host- name with a quoted path");
  }
  std::string out(name);
  out += '=';
  if (form == CookieForm::Rfc2109) {
    append_quoted_value(out, without_quotes(value));
    out += "; Version=\"1\"";
  } else {
    out += value;
  }
  append_life(out, form, options);
  if (!options.path.empty()) append_attribute(out, form, "Path", options.path);
  if (!options.domain.empty()) append_attribute(out, form, "Domain", options.domain);
  if (options.secure) out.append("; Secure");
  if (options.http_only) out.append("; HttpOnly");
  out.append(attribute(options.same_site));
  if (options.partitioned) out.append("; Partitioned");
  return out;
}

std::string escape_cookie(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  percent::append(out, text, [](char c) { return is_cookie_octet(c) && c != '%'; });
  return out;
}

Result<std::string> unescape_cookie(std::string_view value) {
  Result<std::string> text = percent_decode(without_quotes(value));
  if (!text) return Error(Errc::MalformedCookie, "cookie: invalid percent-encoding");
  return text;
}

CookieField& CookieField::add(std::string_view name, std::string_view value) {
  return add(name, value, {}, {}), *this;
}

CookieField& CookieField::add(const SetCookie& cookie) {
  return add(cookie.name, cookie.value, cookie.path, cookie.domain), *this;
}

void CookieField::add(std::string_view name, std::string_view value, std::string_view path,
                      std::string_view domain) {
  for (const std::string_view text : {name, value, path, domain}) {
    for (const char c : text) {
      if ((ascii::is_control(c) && c != '\t') || c == ';')
        refuse("contains a control character or a semicolon");
    }
  }
  if (name.find('=') != name.npos) refuse("the name contains an equals sign");
  if (name.empty() && http::cookie_prefix(value) != http::CookiePrefix::None) {
    refuse("a nameless value starts with a reserved prefix");
  }
  if (form_ != CookieForm::Rfc2109) {
    if (!text_.empty()) text_ += "; ";
    if (!name.empty()) text_.append(name).append("=");
    text_ += value;
    return;
  }
  if (name.empty() || name.front() == '$') return;
  if (text_.empty()) text_ = "$Version=\"1\"";
  text_.append("; ").append(name).append("=");
  append_quoted_value(text_, without_quotes(value));
  if (!path.empty()) append_attribute(text_, form_, "$Path", path);
  if (!domain.empty()) append_attribute(text_, form_, "$Domain", domain);
}

}  // namespace skua
