// SPDX-License-Identifier: MIT
// In: a text, or new components for one. Out: a Url: the text and the offsets of its components. A
// setter joins the text with the new component, parses it again, and refuses it unless the very
// same components come out. So no setter can affect other components.

#include <algorithm>

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "http/uri/url_parts.hpp"
#include "skua/url.hpp"

namespace skua {
namespace {

// Replaces the components if parsing their text yields the same ones.
Result<void> replace(Url& url, const http::UrlParts& parts) {
  Result<Url> read = Url::parse(parts.join().to_string());
  if (!read) return read.error();
  if (http::UrlParts::of(*read) != parts)
    return Error(Errc::MalformedUrl, "url: invalid component");
  url = *std::move(read);
  return {};
}

// Encodes the octets that a part may not contain, and keeps existing triplets.
Result<std::string> encode_rest(std::string_view text, percent::Part part) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool is_triplet = percent::has_triplet(text);
    const std::size_t size = is_triplet ? percent::triplet_bytes : 1;
    if (is_triplet || percent::is(text.front(), part)) {
      out += text.substr(0, size);
    } else if (text.front() == '%') {
      return Error(Errc::MalformedUrl, "url: invalid percent-encoding");
    } else {
      percent::append_triplet(out, text.front());
    }
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (text.size() > max_bytes) return Error(Errc::MalformedUrl, "url: too long");
  const Result<http::UrlParts> parts = http::UrlParts::split(text);
  if (!parts) return parts.error();
  return parts->join();
}

std::string_view Url::scheme() const noexcept {
  return std::string_view(text_).substr(0, scheme_end_);
}

bool Url::has_authority() const noexcept {
  return std::string_view(text_).substr(has_scheme() ? scheme_end_ + 1 : 0).starts_with("//");
}

std::string_view Url::authority() const noexcept {
  if (!has_authority()) return {};
  const std::size_t begin = (has_scheme() ? scheme_end_ + 1 : 0) + 2;
  return std::string_view(text_).substr(begin, path_begin_ - begin);
}

bool Url::has_userinfo() const noexcept { return has_authority() && text_[host_begin_ - 1] == '@'; }

std::string_view Url::userinfo() const noexcept {
  return has_userinfo() ? authority().substr(0, authority().find('@')) : std::string_view{};
}

std::string_view Url::host() const noexcept {
  return std::string_view(text_).substr(host_begin_, host_end_ - host_begin_);
}

std::string_view Url::path() const noexcept {
  return std::string_view(text_).substr(path_begin_, path_end_ - path_begin_);
}

std::string_view Url::query() const noexcept {
  if (!has_query()) return {};
  return std::string_view(text_).substr(path_end_ + 1, query_end_ - path_end_ - 1);
}

std::string_view Url::fragment() const noexcept {
  return has_fragment() ? std::string_view(text_).substr(query_end_ + 1) : std::string_view{};
}

std::optional<std::uint16_t> Url::port() const noexcept {
  if (path_begin_ <= host_end_) return std::nullopt;
  return http::port_number(
      std::string_view(text_).substr(host_end_ + 1, path_begin_ - host_end_ - 1));
}

std::optional<std::uint16_t> Url::effective_port() const noexcept {
  const std::optional<std::uint16_t> written = port();
  return written ? written : http::scheme_port(scheme());
}

HostKind Url::host_kind() const noexcept {
  return http::classify_host(host()).value_or(HostKind::None);
}

std::string Url::hostname() const {
  if (!host().starts_with('[')) return std::string(host());
  const HostKind kind = host_kind();
  if (kind == HostKind::IpFuture) return std::string(host().substr(1, host().size() - 2));
  if (kind != HostKind::Ipv6) return std::string(host());
  const auto [address, zone] = http::split_ipv6(host());
  std::string name(address);
  if (!zone.empty()) name.append("%").append(http::decode_triplets(zone));
  return name;
}

std::string Url::user() const {
  return http::decode_triplets(userinfo().substr(0, userinfo().find(':')));
}

std::string Url::password() const {
  const std::size_t colon = userinfo().find(':');
  if (colon == std::string_view::npos) return {};
  return http::decode_triplets(userinfo().substr(colon + 1));
}

std::string Url::host_field() const {
  std::string field(host());
  // RFC 6874 §4: a zone has a meaning on this machine only.
  if (field.starts_with('[') && host_kind() == HostKind::Ipv6) {
    field = "[";
    field.append(http::split_ipv6(host()).address).append("]");
  }
  const std::optional<std::uint16_t> number = port();
  if (number && number != http::scheme_port(scheme())) {
    field.append(":").append(std::to_string(*number));
  }
  return field;
}

std::string Url::request_target() const {
  std::string target(path().empty() ? std::string_view("/") : path());
  if (has_query()) target.append("?").append(query());
  return target;
}

Result<void> Url::set_scheme(std::string_view scheme) {
  std::string lower;
  for (const char c : scheme) lower += ascii::to_lower(c);
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.scheme = lower;
  return replace(*this, parts);
}

Result<void> Url::set_host(std::string_view host) {
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.has_authority = true;
  parts.host = host;
  return replace(*this, parts);
}

Result<void> Url::set_port(std::optional<std::uint16_t> port) {
  const std::string digits = port ? std::to_string(*port) : std::string();
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.port.reset();
  if (port) parts.port = digits;
  return replace(*this, parts);
}

Result<void> Url::set_userinfo(std::string_view userinfo) {
  const Result<std::string> encoded = encode_rest(userinfo, percent::Userinfo);
  if (!encoded) return encoded.error();
  if (host().empty() && !encoded->empty()) return Error(Errc::MalformedUrl, "url: no host");
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.userinfo.reset();
  if (!encoded->empty()) parts.userinfo = *encoded;
  return replace(*this, parts);
}

Result<void> Url::set_path(std::string_view path) {
  const Result<std::string> encoded = encode_rest(path, percent::Path);
  if (!encoded) return encoded.error();
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.path = *encoded;
  return replace(*this, parts);
}

Result<void> Url::set_query(std::optional<std::string_view> query) {
  const Result<std::string> encoded =
      encode_rest(query.value_or(std::string_view{}), percent::Query);
  if (!encoded) return encoded.error();
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.query.reset();
  if (query) parts.query = *encoded;
  return replace(*this, parts);
}

Result<void> Url::set_fragment(std::optional<std::string_view> fragment) {
  const Result<std::string> encoded =
      encode_rest(fragment.value_or(std::string_view{}), percent::Query);
  if (!encoded) return encoded.error();
  http::UrlParts parts = http::UrlParts::of(*this);
  parts.fragment.reset();
  if (fragment) parts.fragment = *encoded;
  return replace(*this, parts);
}

Result<void> Url::add_segment(std::string_view text) {
  if (text == "." || text == "..") return Error(Errc::MalformedUrl, "url: dot segment");
  std::string longer(path());
  if (!longer.ends_with('/') && (has_authority() || !longer.empty())) longer += '/';
  longer += percent_encode(text);
  return set_path(longer);
}

// In: any text. Out: the text encoded for one part of a URL; and back. Each set lists the octets
// that stay as they are; everything else is encoded, including `%`.

namespace {

constexpr percent::Part part_of(PercentSet set) noexcept {
  switch (set) {
    case PercentSet::Component: return percent::Unreserved;
    case PercentSet::Segment: return percent::Segment;
    case PercentSet::Path: return percent::Path;
    case PercentSet::Query:
    case PercentSet::Fragment: return percent::Query;
    case PercentSet::Form: return percent::Form;
    case PercentSet::Userinfo: return percent::Userinfo;
  }
  return percent::Unreserved;
}

// Returns the start of a reference's path: after its authority, if it has one.
std::size_t path_begin(std::string_view text) noexcept {
  const std::size_t slashes = text.find("//");
  if (slashes == text.npos) return 0;
  // `//a` and `s://a`, but neither `/a//b` nor `?a://b`
  const bool has_authority =
      slashes == 0 || (text[slashes - 1] == ':' && text.find_first_of(":/?#") == slashes - 1);
  if (!has_authority) return 0;
  return std::min(text.find_first_of("/?#", slashes + 2), text.size());
}

// Forbidden by RFC 3986, and without a meaning anywhere: WHATWG URL, path percent-encode set.
constexpr bool is_encoded_by_browsers(char c) noexcept {
  return static_cast<unsigned char>(c) > 0x7f ||
         std::string_view(" \"<>[]^`{|}").find(c) != std::string_view::npos;
}

}  // namespace

Result<Url> Url::parse_lenient(std::string_view text) {
  if (text.size() > max_bytes) return Error(Errc::MalformedUrl, "url: too long");
  const std::size_t begin = path_begin(text);
  std::string strict(text.substr(0, begin));
  percent::append(strict, text.substr(begin), [](char c) { return !is_encoded_by_browsers(c); });
  return parse(strict);
}

std::string percent_encode(std::string_view text, PercentSet set) {
  const percent::Part part = part_of(set);
  std::string out;
  out.reserve(text.size());
  if (set != PercentSet::Form) {
    percent::append(out, text, [part](char c) { return percent::is(c, part); });
    return out;
  }
  for (const char c : text) {
    if (c == ' ') {
      out += '+';
    } else {
      percent::append(out, {&c, 1}, [part](char octet) { return percent::is(octet, part); });
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) {
  for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
    if (!percent::has_triplet(text.substr(at))) {
      return Error(Errc::MalformedUrl, "percent_decode: invalid percent-encoding");
    }
  }
  return http::decode_triplets(text);
}

namespace http {

std::string decode_triplets(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool is_triplet = percent::has_triplet(text);
    out += is_triplet ? percent::triplet_octet(text) : text.front();
    text.remove_prefix(is_triplet ? percent::triplet_bytes : 1);
  }
  return out;
}

}  // namespace http
}  // namespace skua
