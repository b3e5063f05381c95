// SPDX-License-Identifier: MIT
// In: a `cookies.txt`, or lines with a URL, a space and a Set-Cookie field. Checked: the cookies
// sent to a URL are those that a slow and simple implementation of the rules selects; nothing that
// came without TLS changes a Secure cookie; the limits hold; and a jar survives being written as
// `cookies.txt` and read.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "skua/cookie_jar.hpp"

namespace {

using skua::CookieJar;
using skua::HostKind;
using skua::KeptCookie;
using skua::Url;
using Time = std::chrono::sys_seconds;

constexpr std::size_t max_cookies = 20;
constexpr std::size_t max_bytes = 2000;

CookieJar make_jar() {
  return CookieJar({.cookies_per_domain = 6, .cookies = max_cookies, .size_bytes = max_bytes});
}

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_secure(const Url& url) { return url.scheme() == "https" || url.scheme() == "wss"; }

bool has_cookies(const Url& url) {
  const std::string_view scheme = url.scheme();
  return (is_secure(url) || scheme == "http" || scheme == "ws") && url.origin() &&
         !url.origin()->host.starts_with('.');
}

bool is_for(const KeptCookie& cookie, const Url& url) {
  const std::string host = url.origin()->host;
  const bool is_below =
      url.host_kind() == HostKind::Name && !cookie.host_only && host.ends_with("." + cookie.domain);
  const std::string path = url.path().empty() ? "/" : std::string(url.path());
  const std::string folder = cookie.path.ends_with('/') ? cookie.path : cookie.path + "/";
  return (host == cookie.domain || is_below) && (path == cookie.path || path.starts_with(folder)) &&
         (!cookie.secure || is_secure(url));
}

std::string expected_field(const CookieJar& jar, const Url& url, Time now) {
  std::multimap<std::size_t, KeptCookie, std::greater<>> by_path;  // stable for equal keys
  for (const KeptCookie& cookie : jar.cookies(now)) by_path.emplace(cookie.path.size(), cookie);
  std::string field;
  for (const auto& [size, cookie] : by_path) {
    if (!is_for(cookie, url)) continue;
    if (!field.empty()) field += "; ";
    if (!cookie.name.empty()) field += cookie.name + "=";
    field += cookie.value;
  }
  return field;
}

std::size_t size_of(const std::vector<KeptCookie>& cookies) {
  std::size_t bytes = 0;
  for (const KeptCookie& cookie : cookies) {
    bytes += cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
  }
  return bytes;
}

void check_kept(const CookieJar& jar, Time now) {
  std::vector<KeptCookie> cookies = jar.cookies(now);
  check(cookies.size() <= jar.size() && jar.size() <= max_cookies);
  for (KeptCookie& cookie : cookies) {
    if (!cookie.host_only) check(cookie.domain.find('.') != cookie.domain.npos);
    if (cookie.expires) check(*cookie.expires > now);
    check(cookie.path.starts_with('/'));
    cookie.same_site.reset();
  }
  check(size_of(cookies) <= max_bytes);

  const std::string text = jar.to_netscape(now);
  CookieJar read = make_jar();
  const skua::CookieFileReport report = read.add_netscape(text, now);
  check(report.kept == cookies.size() && report.refused == 0 && report.expired == 0);
  check(read.cookies(now) == cookies);
  check(read.to_netscape(now) == text);
}

std::vector<KeptCookie> secure_cookies(const CookieJar& jar, Time now) {
  std::vector<KeptCookie> cookies = jar.cookies(now);
  std::erase_if(cookies, [](const KeptCookie& cookie) { return !cookie.secure; });
  return cookies;
}

void store(CookieJar& jar, const Url& url, std::string_view field, Time now) {
  const std::vector<KeptCookie> before = secure_cookies(jar, now);
  // Cookies of other domains are evicted only by the limits for all domains together.
  const bool is_full =
      jar.size() == max_cookies ||
      size_of(jar.cookies(Time::min())) + url.to_string().size() + 2 * field.size() + 1 > max_bytes;
  const std::size_t size = jar.size();
  const bool is_stored = jar.store(url, field, now).has_value();
  check(jar.size() <= size + 1);
  if (!has_cookies(url)) {
    check(!is_stored && jar.size() == size && jar.field_for(url, now).empty());
    return;
  }
  if (!is_secure(url) && !is_full) check(secure_cookies(jar, now) == before);
  const std::string expected = expected_field(jar, url, now);
  check(jar.field_for(url, now) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  std::string_view rest = all;
  Time now{std::chrono::seconds(1'700'000'000)};
  CookieJar jar = make_jar();
  if (rest.starts_with('#')) jar.add_netscape(rest, now);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    const auto url = Url::parse(line.substr(0, space));
    if (url) store(jar, *url, line.substr(space + 1), now);
    now += std::chrono::seconds(1);
  }
  check_kept(jar, now);
  return 0;
}
