// SPDX-License-Identifier: MIT
// In: the Cookie fields of a request, as clients really send them. Out: its cookies, as views.
// Nothing is decoded and nothing is refused: a malformed cookie must not hide the others, and
// RFC 6265 gives no octet a meaning except `;` and the first `=`.
#include "http/cookie/cookie.hpp"

#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "skua/cookie.hpp"

namespace skua {
namespace http {

std::optional<Cookie> take_cookie(std::string_view& field) noexcept {
  while (!field.empty()) {
    const std::size_t end = field.find(';');
    const std::string_view pair = ascii::trim_ows(field.substr(0, end));
    field = end == field.npos ? std::string_view{} : field.substr(end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    if (equals == pair.npos) return Cookie{{}, pair};
    return Cookie{pair.substr(0, equals), pair.substr(equals + 1)};
  }
  return std::nullopt;
}

std::optional<std::string_view> find_cookie(std::string_view field,
                                            std::string_view name) noexcept {
  while (const auto cookie = take_cookie(field)) {
    if (cookie->name == name) return cookie->value;
  }
  return std::nullopt;
}

CookiePrefix cookie_prefix(std::string_view name) noexcept {
  const auto begins_with = [name](std::string_view prefix) {
    return ascii::equals_ignoring_case(name.substr(0, prefix.size()), prefix);
  };
  if (begins_with("__Secure-")) return CookiePrefix::Secure;
  if (begins_with("__Host-")) return CookiePrefix::Host;
  return CookiePrefix::None;
}

}  // namespace http

void RequestCookies::Iterator::next() noexcept {
  for (;;) {
    if (const auto cookie = http::take_cookie(rest_)) {
      cookie_ = *cookie;
      return;
    }
    // RFC 9113 §8.2.3: there may be several Cookie lines.
    const auto lines = head_->fields;
    while (next_line_ < lines.size() && lines[next_line_].name != http::FieldName::Cookie) {
      ++next_line_;
    }
    if (next_line_ == lines.size()) break;
    rest_ = head_->value(lines[next_line_++]);
  }
  is_end_ = true;
}

}  // namespace skua
