// SPDX-License-Identifier: MIT
// In: a request's target as sent. Out: the target for the upstream server. Its path has the same
// segments as the canonical one by which the request was routed and checked, so that no upstream
// server can resolve it to another place; but they stay encoded as they were.
#include "proxy/target.hpp"

#include "base/percent.hpp"
#include "http/uri/target_path.hpp"

namespace skua::proxy {
namespace {

// Returns the length of the dots if the segment is made of dots only, encoded or not; else 0.
std::size_t dot_count(std::string_view segment) noexcept {
  std::size_t count = 0;
  while (!segment.empty()) {
    const bool is_encoded = percent::has_triplet(segment) && percent::triplet_octet(segment) == '.';
    if (!is_encoded && segment.front() != '.') return 0;
    segment.remove_prefix(is_encoded ? percent::triplet_bytes : 1);
    ++count;
  }
  return count;
}

}  // namespace

std::string upstream_target(std::string_view target, std::optional<std::string_view> base,
                            std::size_t replaced_segments) {
  if (target == "*") return "*";
  std::string made;
  made.reserve(target.size() + base.value_or("").size() + 1);
  made.append(base.value_or(""));
  const std::size_t skipped = base ? replaced_segments : 0;
  const http::TargetParts parts = http::split_target(target);
  std::string_view path = parts.path;
  std::size_t count = 0;  // of the segments so far
  // RFC 3986 §5.2.4, without decoding. The last segment is empty if the path ends in a slash.
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const std::size_t dots = dot_count(segment);
    if (dots == 2 && count != 0) {
      if (--count >= skipped) made.resize(made.rfind('/'));
    }
    const bool is_kept = !segment.empty() && dots != 1 && dots != 2;
    if (!is_kept && !path.empty()) continue;
    if (++count > skipped) made.append("/").append(is_kept ? segment : std::string_view());
  }
  if (made.empty()) made = "/";
  const bool has_query = target.find('?') != target.npos;
  if (has_query) made.append("?").append(parts.query);
  return made;
}

}  // namespace skua::proxy
