// SPDX-License-Identifier: MIT
// In: a URL, and perhaps a reference to resolve. Out: the target of the reference, or the one form
// for comparing URLs. RFC 3986 §5.2 and §6.2, with one addition: a path that would come out as
// `//x` without an authority gets `/.` in front, or it would be read as an authority.
#include "base/ascii.hpp"
#include "base/ip_text.hpp"
#include "base/percent.hpp"
#include "http/uri/url_parts.hpp"
#include "skua/url.hpp"

namespace skua {
namespace {

using http::UrlParts;

// RFC 3986 §6.2.2.1, §6.2.2.2: uppercase triplets, and no needless ones.
std::string normalise_triplets(std::string_view text, bool to_lower) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const bool is_triplet = percent::has_triplet(text);
    const char c = is_triplet ? percent::triplet_octet(text) : text.front();
    text.remove_prefix(is_triplet ? percent::triplet_bytes : 1);
    if (is_triplet && !percent::is(c, percent::Unreserved)) {
      percent::append_triplet(out, c);
    } else {
      out += to_lower ? ascii::to_lower(c) : c;
    }
  }
  return out;
}

std::string normalise_host(std::string_view host) {
  if (!host.starts_with('[')) return normalise_triplets(host, true);
  const auto [address, zone] = http::split_ipv6(host);
  const auto groups = parse_ipv6(address);
  if (!groups) return normalise_triplets(host, true);  // IPvFuture
  std::string out = "[";
  append_ipv6(out, *groups);
  if (!zone.empty()) out.append("%25").append(normalise_triplets(zone, false));
  return out.append("]");
}

// Removes dot segments; the result cannot be read as an authority.
std::string without_dots(std::string_view path, bool has_authority) {
  std::string out = http::remove_dot_segments(path);
  if (!has_authority && out.starts_with("//")) out.insert(0, "/.");
  return out;
}

// RFC 3986 §5.2.3
std::string merge(const Url& base, std::string_view path) {
  if (base.has_authority() && base.path().empty()) return std::string("/").append(path);
  const std::size_t slash = base.path().rfind('/');
  const std::size_t kept = slash == std::string_view::npos ? 0 : slash + 1;
  return std::string(base.path().substr(0, kept)).append(path);
}

}  // namespace

std::string http::remove_dot_segments(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  const auto drop_last = [&out] {
    const std::size_t slash = out.rfind('/');
    out.resize(slash == std::string::npos ? 0 : slash);
  };
  while (!path.empty()) {
    if (path.starts_with("../")) {
      path.remove_prefix(3);
    } else if (path.starts_with("./")) {
      path.remove_prefix(2);
    } else if (path.starts_with("/./")) {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.starts_with("/../")) {
      path.remove_prefix(3);
      drop_last();
    } else if (path == "/..") {
      path = "/";
      drop_last();
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const std::string_view segment = path.substr(0, path.find('/', 1));
      out += segment;
      path.remove_prefix(segment.size());
    }
  }
  return out;
}

Url Url::normalised() const {
  UrlParts parts = UrlParts::of(*this);
  const std::optional<std::uint16_t> usual_port = http::scheme_port(scheme());
  const std::optional<std::uint16_t> number = port();
  const std::string host = normalise_host(parts.host);
  const std::string digits = number && number != usual_port ? std::to_string(*number) : "";
  std::string path = normalise_triplets(parts.path, false);
  // The dot segments of a relative path carry its meaning.
  if (has_scheme() || path.starts_with('/')) path = without_dots(path, parts.has_authority);
  if (path.empty() && usual_port && parts.has_authority) path = "/";
  std::string userinfo;
  std::string query;
  std::string fragment;
  const auto replace = [](std::optional<std::string_view>& part, std::string& normal) {
    if (part) part = normal = normalise_triplets(*part, false);
  };
  replace(parts.userinfo, userinfo);
  replace(parts.query, query);
  replace(parts.fragment, fragment);
  parts.host = host;
  parts.port.reset();
  if (!digits.empty()) parts.port = digits;
  parts.path = path;
  return parts.join();
}

Result<Url> Url::resolve(const Url& reference) const {
  if (!has_scheme()) return Error(Errc::MalformedUrl, "url: the base is relative");
  const UrlParts base = UrlParts::of(*this);
  UrlParts target = UrlParts::of(reference);
  std::string path;
  if (reference.has_scheme() || target.has_authority) {
    path = without_dots(target.path, target.has_authority);
  } else if (target.path.empty()) {
    path = base.path;
    if (!target.query) target.query = base.query;
  } else if (target.path.starts_with('/')) {
    path = without_dots(target.path, base.has_authority);
  } else {
    path = without_dots(merge(*this, target.path), base.has_authority);
  }
  if (!reference.has_scheme()) {
    if (!target.has_authority) {
      target.has_authority = base.has_authority;
      target.userinfo = base.userinfo;
      target.host = base.host;
      target.port = base.port;
    }
    target.scheme = base.scheme;
  }
  target.path = path;
  return parse(target.join().to_string());
}

Result<Url> Url::resolve(std::string_view reference) const {
  const Result<Url> parsed = parse(reference);
  if (!parsed) return parsed.error();
  return resolve(*parsed);
}

std::optional<Origin> Url::origin() const {
  const std::optional<std::uint16_t> number = effective_port();
  if (!has_scheme() || host().empty() || !number) return std::nullopt;
  return Origin{std::string(scheme()), normalise_host(host()), *number};
}

std::string Origin::to_string() const {
  std::string text = scheme + "://" + host;
  if (http::scheme_port(scheme) != port) text.append(":").append(std::to_string(port));
  return text;
}

}  // namespace skua
