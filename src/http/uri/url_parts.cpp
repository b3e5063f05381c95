// SPDX-License-Identifier: MIT
// In: the text of a URI reference. Out: its components, with every octet checked; and back. The
// grammar of RFC 3986 lets the delimiters be found one after the other: the fragment first, then
// the query, the scheme, the authority, and in it the userinfo. There is only one way to read a
// text, so any other strict parser finds the same host.
#include "http/uri/url_parts.hpp"

#include "base/ascii.hpp"
#include "base/ip_text.hpp"
#include "base/percent.hpp"

namespace skua::http {
namespace {

constexpr std::string_view zone_mark = "%25";  // RFC 6874 §2

Error malformed_url(const char* where) noexcept { return {Errc::MalformedUrl, where}; }

// Reports whether a text consists of triplets and octets allowed in this part.
bool is_made_of(std::string_view text, percent::Part part) noexcept {
  while (!text.empty()) {
    if (percent::is(text.front(), part)) {
      text.remove_prefix(1);
    } else if (percent::has_triplet(text)) {
      text.remove_prefix(percent::triplet_bytes);
    } else {
      return false;
    }
  }
  return true;
}

bool is_scheme(std::string_view text) noexcept {
  if (text.empty() || !ascii::is_alpha(text.front())) return false;
  for (const char c : text) {
    if (!ascii::is(c, ascii::Alpha | ascii::Digit) && c != '+' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

// RFC 3986 §3.2.2, IPvFuture: the `v1.x` of `[v1.x]`.
bool is_future_address(std::string_view text) noexcept {
  const std::size_t dot = text.find('.');
  if (dot == text.npos || dot < 2) return false;
  for (const char c : text.substr(1, dot - 1)) {
    if (!ascii::is_hex(c)) return false;
  }
  for (const char c : text.substr(dot + 1)) {
    if (!percent::is(c, percent::Userinfo)) return false;
  }
  return dot + 1 < text.size();
}

// One label of a name, as far as it has been read.
struct Label {
  std::size_t size = 0;
  bool is_decimal = true;
  bool is_hexadecimal = true;  // begins with 0x

  void add(char c) noexcept {
    is_decimal = is_decimal && ascii::is_digit(c);
    const bool fits =
        size == 0 ? c == '0' : (size == 1 ? ascii::to_lower(c) == 'x' : ascii::is_hex(c));
    is_hexadecimal = is_hexadecimal && fits;
    ++size;
  }
  [[nodiscard]] bool is_number() const noexcept {
    return is_decimal || (is_hexadecimal && size >= 2);
  }
};

// Reports whether a resolver might take a name for an address: no DNS name ends in a number.
bool ends_in_number(std::string_view name) noexcept {
  Label last;
  last.is_decimal = last.is_hexadecimal = false;
  Label label;
  while (!name.empty()) {
    const bool is_triplet = percent::has_triplet(name);
    const char c = is_triplet ? percent::triplet_octet(name) : name.front();
    name.remove_prefix(is_triplet ? percent::triplet_bytes : 1);
    if (c != '.') {
      label.add(c);
    } else if (label.size != 0) {
      last = label;
      label = {};
    }
  }
  return label.size != 0 ? label.is_number() : last.is_number();
}

// RFC 3986 §3.2: [ userinfo "@" ] host [ ":" port ]
Result<void> take_authority(UrlParts& parts, std::string_view text) noexcept {
  parts.has_authority = true;
  if (const std::size_t at = text.find('@'); at != text.npos) {
    parts.userinfo = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (!is_made_of(*parts.userinfo, percent::Userinfo))
      return malformed_url("url: invalid userinfo");
  }
  std::size_t end = text.find(':');
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == text.npos) return malformed_url("url: invalid host");
    ++end;
  }
  parts.host = text.substr(0, end);
  text.remove_prefix(parts.host.size());
  const std::optional<HostKind> kind = classify_host(parts.host);
  if (!kind) return malformed_url("url: invalid host");
  if (scheme_port(parts.scheme)) {
    // RFC 9110 §4.2.1: an empty host is invalid.
    if (*kind == HostKind::None) return malformed_url("url: missing host");
    if (*kind == HostKind::Name && ends_in_number(parts.host)) {
      return malformed_url("url: the host is neither a name nor an address");
    }
  }
  if (text.empty()) return {};
  parts.port = text.substr(1);
  if (text.front() != ':' || (!parts.port->empty() && !port_number(*parts.port))) {
    return malformed_url("url: invalid port");
  }
  return {};
}

}  // namespace

std::optional<std::uint16_t> port_number(std::string_view digits) noexcept {
  unsigned value = 0;
  for (const char c : digits) {
    if (!ascii::is_digit(c)) return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 65535) return std::nullopt;
  }
  if (digits.empty()) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

std::optional<std::uint16_t> scheme_port(std::string_view scheme) noexcept {
  for (const std::string_view plain : {"http", "ws"}) {
    if (ascii::equals_ignoring_case(scheme, plain)) return std::uint16_t{80};
  }
  for (const std::string_view secure : {"https", "wss"}) {
    if (ascii::equals_ignoring_case(scheme, secure)) return std::uint16_t{443};
  }
  return std::nullopt;
}

Ipv6Host split_ipv6(std::string_view host) noexcept {
  const std::string_view inside = host.substr(1, host.size() - 2);
  const std::size_t mark = inside.find(zone_mark);
  if (mark == inside.npos) return {inside, {}};
  return {inside.substr(0, mark), inside.substr(mark + zone_mark.size())};
}

std::optional<HostKind> classify_host(std::string_view host) noexcept {
  if (host.empty()) return HostKind::None;
  if (host.front() != '[') {
    if (!is_made_of(host, percent::RegName)) return std::nullopt;
    return parse_ipv4(host) ? HostKind::Ipv4 : HostKind::Name;
  }
  if (host.size() < 2 || host.back() != ']') return std::nullopt;
  if (ascii::to_lower(host[1]) == 'v') {
    if (!is_future_address(host.substr(1, host.size() - 2))) return std::nullopt;
    return HostKind::IpFuture;
  }
  const auto [address, zone] = split_ipv6(host);
  const bool has_empty_zone = zone.empty() && host.find('%') != host.npos;
  if (has_empty_zone || !is_made_of(zone, percent::Unreserved) || !parse_ipv6(address)) {
    return std::nullopt;
  }
  return HostKind::Ipv6;
}

Result<UrlParts> UrlParts::split(std::string_view text) noexcept {
  UrlParts parts;
  if (const std::size_t hash = text.find('#'); hash != text.npos) {
    parts.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
    if (!is_made_of(*parts.fragment, percent::Query)) return malformed_url("url: invalid fragment");
  }
  if (const std::size_t mark = text.find('?'); mark != text.npos) {
    parts.query = text.substr(mark + 1);
    text = text.substr(0, mark);
    if (!is_made_of(*parts.query, percent::Query)) return malformed_url("url: invalid query");
  }
  // RFC 3986 §4.2: a colon in the first segment can only end a scheme.
  if (const std::size_t colon = text.find(':'); colon < text.find('/')) {
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
    if (!is_scheme(parts.scheme)) return malformed_url("url: invalid scheme");
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::string_view authority = text.substr(0, text.find('/'));
    text.remove_prefix(authority.size());
    if (const Result<void> taken = take_authority(parts, authority); !taken) return taken.error();
  }
  parts.path = text;
  if (!is_made_of(parts.path, percent::Path)) return malformed_url("url: invalid path");
  return parts;
}

UrlParts UrlParts::of(const Url& url) noexcept {
  UrlParts parts;
  parts.scheme = url.scheme();
  parts.has_authority = url.has_authority();
  if (url.has_userinfo()) parts.userinfo = url.userinfo();
  parts.host = url.host();
  if (url.host_end_ != url.path_begin_) {
    parts.port =
        std::string_view(url.text_).substr(url.host_end_ + 1, url.path_begin_ - url.host_end_ - 1);
  }
  parts.path = url.path();
  if (url.has_query()) parts.query = url.query();
  if (url.has_fragment()) parts.fragment = url.fragment();
  return parts;
}

Url UrlParts::join() const {
  Url url;
  std::string& text = url.text_;
  const auto here = [&text] { return static_cast<std::uint32_t>(text.size()); };
  for (const char c : scheme) text += ascii::to_lower(c);
  url.scheme_end_ = here();
  if (!scheme.empty()) text += ':';
  if (has_authority) text += "//";
  if (userinfo) text.append(*userinfo).append("@");
  url.host_begin_ = here();
  text += host;
  url.host_end_ = here();
  if (port) text.append(":").append(*port);
  url.path_begin_ = here();
  text += path;
  url.path_end_ = here();
  if (query) text.append("?").append(*query);
  url.query_end_ = here();
  if (fragment) text.append("#").append(*fragment);
  return url;
}

}  // namespace skua::http
