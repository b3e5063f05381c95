// SPDX-License-Identifier: MIT
// In: a request target. Checked: the canonical path is a fixed point, starts with a slash, and has
// nothing that a file system or another parser could read as a way out.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "files/safe_path.hpp"
#include "http/uri/target_path.hpp"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

skua::Result<std::string> canonical(std::string_view raw) {
  std::vector<char> scratch(raw.size());
  const std::vector<char> exact(raw.begin(), raw.end());
  const auto path = skua::http::canonical_path({exact.data(), exact.size()}, scratch);
  if (!path) return path.error();
  return std::string(*path);
}

// Encodes a path as a request target.
std::string encode(std::string_view path) {
  std::string out;
  for (const char c : path) c == '%' ? out.append("%25") : out.append(1, c);
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view target(reinterpret_cast<const char*>(data), size);
  const skua::http::TargetParts parts = skua::http::split_target(target);
  check(parts.query.find('\n') == parts.query.npos || target.find('\n') != target.npos);
  const skua::Result<std::string> path = canonical(parts.path);
  if (!path || *path == "*") return 0;
  check(path->starts_with('/'));
  for (const char c : *path) check(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f && c != '\\');
  const std::string walled = *path + "/";
  for (const std::string_view part : {"//", "/./", "/../"}) {
    check(path->find(part) == path->npos);
    if (part != "//") check(walled.find(part) == walled.npos);
  }
  const skua::Result<std::string> again = canonical(encode(*path));
  check(again && *again == *path);
  if (skua::files::is_safe_path(*path, {}))
    check(path->find("/.") == path->npos || path->starts_with("/.well-known"));
  return 0;
}
