// SPDX-License-Identifier: MIT
// Converts a jar to the text of a `cookies.txt` and back: seven fields, separated by tabs,
//
//   .example.com  TRUE        /     FALSE   1893456000           name  value
//   domain        subdomains  path  secure  expires; 0: session  name and value may be empty
//
// in lines as curl writes them: HttpOnly is a prefix that other readers take for a comment, and an
// IPv6 address has no brackets.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "http/cookie/cookie_jar.hpp"
#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::string_view http_only_prefix = "#HttpOnly_";
constexpr std::string_view file_head =
    "# Netscape HTTP Cookie File\n"
    "# domain, include subdomains, path, secure, expires, name, value\n\n";

constexpr std::string_view word(bool is_true) noexcept { return is_true ? "TRUE" : "FALSE"; }

Error malformed_line(const char* why) noexcept { return {Errc::MalformedCookie, why}; }

void append_line(std::string& out, const KeptCookie& cookie) {
  std::string_view domain = cookie.domain;
  if (domain.starts_with('[')) domain = domain.substr(1, domain.size() - 2);
  if (cookie.http_only) out += http_only_prefix;
  if (!cookie.host_only) out += '.';
  const auto append = [&out](std::string_view text) { out.append(text).append("\t"); };
  append(domain);
  append(word(!cookie.host_only));
  append(cookie.path);
  append(word(cookie.secure));
  append(std::to_string(cookie.expires ? cookie.expires->time_since_epoch().count() : 0));
  append(cookie.name);
  out.append(cookie.value).append("\n");
}

// Takes the text up to the next separator, and the separator with it.
std::string_view take(std::string_view& text, char separator) noexcept {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == text.npos ? std::string_view{} : text.substr(end + 1);
  return taken;
}

std::optional<bool> read_word(std::string_view text) noexcept {
  if (ascii::equals_ignoring_case(text, word(true))) return true;
  if (ascii::equals_ignoring_case(text, word(false))) return false;
  return std::nullopt;
}

// Returns nullopt if the text is not a number; a number that is too large saturates.
std::optional<sys_seconds> read_time(std::string_view digits) noexcept {
  seconds::rep value = 0;
  for (const char c : digits) {
    if (!ascii::is_digit(c)) return std::nullopt;
  }
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec == std::errc::result_out_of_range) return sys_seconds::max();
  return sys_seconds(seconds(value));
}

Result<KeptCookie> read_line(std::string_view line) {
  KeptCookie cookie;
  if (line.starts_with(http_only_prefix)) {
    cookie.http_only = true;
    line.remove_prefix(http_only_prefix.size());
  }
  // Like curl, accepts a line that lost the tab in front of an empty value.
  const auto tabs = std::count(line.begin(), line.end(), '\t');
  if (tabs != 6 && tabs != 5) return malformed_line("cookies.txt: not seven fields");
  std::string_view domain = take(line, '\t');
  if (domain.starts_with('.')) domain.remove_prefix(1);
  const std::optional<bool> is_for_below = read_word(take(line, '\t'));
  cookie.path = take(line, '\t');
  const std::optional<bool> is_secure = read_word(take(line, '\t'));
  const std::string_view expires = take(line, '\t');
  const std::optional<sys_seconds> time = read_time(expires);
  cookie.name = take(line, '\t');
  cookie.value = line;
  if (!is_for_below || !is_secure) return malformed_line("cookies.txt: neither TRUE nor FALSE");
  if (!time) return malformed_line("cookies.txt: invalid expiry time");
  const bool is_ipv6 = domain.find(':') != domain.npos && !domain.starts_with('[');
  cookie.domain = is_ipv6 ? "[" + std::string(domain) + "]" : std::string(domain);
  cookie.host_only = !*is_for_below;
  cookie.secure = *is_secure;
  if (*time != sys_seconds{}) cookie.expires = *time;
  return cookie;
}

}  // namespace

std::string CookieJar::to_netscape(sys_seconds now) const {
  std::string text(file_head);
  for (const KeptCookie& cookie : cookies(now)) append_line(text, cookie);
  return text;
}

CookieFileReport CookieJar::add_netscape(std::string_view text, sys_seconds now) {
  CookieFileReport report;
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = take(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (ascii::trim_ows(line).empty()) continue;
    if (line.starts_with('#') && !line.starts_with(http_only_prefix)) continue;
    Result<KeptCookie> cookie = read_line(line);
    if (cookie && http::is_expired(*cookie, now)) {
      ++report.expired;
      continue;
    }
    const Result<void> added = cookie ? add(*std::move(cookie), now) : cookie.error();
    if (added) {
      ++report.kept;
      continue;
    }
    ++report.refused;
    if (report.lines.size() < CookieFileReport::max_lines) {
      report.lines.push_back({number, added.error()});
    }
  }
  return report;
}

}  // namespace skua
