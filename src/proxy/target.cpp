// SPDX-License-Identifier: MIT
// In: a request's target as sent. Out: the target for the upstream server. Its path has the same
// segments as the canonical one by which the request was routed and checked, so that no upstream
// server can resolve it to another place; but they stay encoded as they were. Empty segments stay,
// too, unless there are dot segments, which take different ones away with them and without them.
#include "proxy/target.hpp"

#include <algorithm>
#include <utility>

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

bool has_dot_segments(std::string_view path) noexcept {
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    if (const std::size_t dots = dot_count(segment); dots == 1 || dots == 2) return true;
  }
  return false;
}

// Returns the path behind its first segments, or nullopt if one of them is empty.
std::optional<std::string_view> behind(std::string_view path, std::size_t segments) noexcept {
  for (; segments != 0; --segments) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    if (end <= 1) return std::nullopt;
    path.remove_prefix(end);
  }
  return path;
}

// Returns the path below `base` with the bytes that were sent, or nullopt if some have to go.
std::optional<std::string> unchanged(std::string_view path, std::string_view base,
                                     std::size_t replaced_segments) {
  if (has_dot_segments(path)) return std::nullopt;
  const std::optional<std::string_view> rest = behind(path, replaced_segments);
  if (!rest) return std::nullopt;
  std::string made(base);
  made.append(*rest);
  return made.empty() ? "/" : made;
}

// Returns the path below `base` without dot segments and empty ones. RFC 3986 §5.2.4, without
// decoding. The last segment is empty if the path ends in a slash.
std::string resolved(std::string_view path, std::string_view base, std::size_t skipped) {
  std::string made(base);
  std::size_t count = 0;  // of the segments so far
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
  return made.empty() ? "/" : made;
}

}  // namespace

std::string upstream_target(std::string_view target, std::optional<std::string_view> base,
                            std::size_t replaced_segments) {
  if (target == "*") return "*";
  const std::size_t skipped = base ? replaced_segments : 0;
  const std::string_view beginning = base.value_or("");
  const http::TargetParts parts = http::split_target(target);
  std::optional<std::string> as_sent = unchanged(parts.path, beginning, skipped);
  std::string made = as_sent ? *std::move(as_sent) : resolved(parts.path, beginning, skipped);
  const bool has_query = target.find('?') != target.npos;
  if (has_query) made.append("?").append(parts.query);
  return made;
}

}  // namespace skua::proxy
