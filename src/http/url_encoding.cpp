// SPDX-License-Identifier: MIT
// In: any text. Out: the text encoded for one part of a URL; and back. Each set lists the octets
// that stay as they are; everything else is encoded, including `%`.
#include <algorithm>

#include "base/percent.hpp"
#include "http/url_parts.hpp"
#include "skua/url.hpp"

namespace skua {
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
