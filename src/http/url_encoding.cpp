// SPDX-License-Identifier: MIT
// In: any text. Out: the same, so that it survives in one part of a URL; and back. Each set names
// what stays as it is; everything else is encoded, `%` first of all.
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

}  // namespace

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
      return Error(Errc::MalformedUrl, "percent_decode: a percent sign");
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
