// SPDX-License-Identifier: MIT
// In: a Set-Cookie field, or a name, a line feed and a value. Checked: a stored cookie is within
// its limits, has no octet that could end a field, and is sent back unchanged; a cookie that a
// server may set is parsed as it was set; unescaping undoes escaping; the lenient cookie date
// parser agrees with the strict one if both accept.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/http_date.hpp"
#include "http/cookie/cookie.hpp"
#include "http/cookie/set_cookie.hpp"
#include "skua/cookie.hpp"

namespace {

using skua::CookieField;
using skua::CookieForm;
using skua::CookieOptions;
using skua::SetCookie;

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_clean(std::string_view text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f || c == ';') return false;
  }
  return true;
}

void check_kept(const SetCookie& cookie) {
  check(is_clean(cookie.name) && is_clean(cookie.value));
  check(is_clean(cookie.path) && is_clean(cookie.domain));
  check(!cookie.name.empty() || !cookie.value.empty());
  check(cookie.name.size() + cookie.value.size() <= skua::http::max_cookie_bytes);
  check(cookie.path.size() <= skua::http::max_cookie_attribute_bytes);
  check(cookie.path.empty() || cookie.path.front() == '/');
  const std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};
  if (const auto end = cookie.expiry(now)) check(*end <= now + std::chrono::days(400));

  const std::string sent = CookieField().add(cookie).text();
  std::string_view rest = sent;
  const auto read = skua::http::take_cookie(rest);
  check(read && rest.empty());
  if (!cookie.name.empty()) check(read->name == cookie.name && read->value == cookie.value);
  (void)CookieField(CookieForm::Rfc2109).add(cookie).add("a", "b");
}

void check_set(std::string_view name, std::string_view value) {
  CookieOptions options;
  options.expires = std::chrono::sys_seconds{std::chrono::seconds(784111777)};
  for (const CookieForm form : {CookieForm::Rfc6265, CookieForm::Netscape, CookieForm::Rfc2109}) {
    try {
      const std::string field = skua::format_set_cookie(name, value, options, form);
      const auto read = SetCookie::parse(field);
      check(read && read->name == name && read->secure && read->http_only);
      check(read->expires == options.expires);
      if (form != CookieForm::Rfc2109) check(read->value == value && read->path == "/");
    } catch (const std::invalid_argument&) {
    }
  }
  const std::string escaped = skua::escape_cookie(value);
  check(skua::unescape_cookie(escaped).value() == value);
  (void)skua::unescape_cookie(value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<char> exact(data, data + size);
  const std::string_view all(exact.data(), exact.size());
  if (const auto cookie = SetCookie::parse(all)) check_kept(*cookie);

  const std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};
  const auto date = skua::parse_http_date(all, now);
  // Leap seconds, and years that cookie dates cannot have, are out of scope.
  if (date && all.find(":60") == all.npos &&
      *date > std::chrono::sys_days(std::chrono::year(1601) / 1 / 1) &&
      all.size() == skua::http_date_bytes) {
    check(skua::http::parse_cookie_date(all) == date);
  }
  const std::size_t line = all.find('\n');
  if (line != all.npos) check_set(all.substr(0, line), all.substr(line + 1));
  return 0;
}
