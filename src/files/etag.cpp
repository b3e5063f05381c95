// SPDX-License-Identifier: MIT
// In: the state of a file. Out: its entity tag. No content is read, so the cost does not depend on
// the size of the file.
#include "files/etag.hpp"

#include "base/later.hpp"

#include <charconv>
#include <cstdint>

namespace skua::files {
namespace {

// FAT has a resolution of two seconds; no file system in use is coarser.
constexpr std::chrono::seconds coarsest_clock{2};

// One round of mixing: every input bit flips about half of the output bits.
constexpr std::uint64_t mix(std::uint64_t state, std::uint64_t value) noexcept {
  state = (state ^ value) * 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 32U)) * 0xD6E8FEB86659FD93U;
  return state ^ (state >> 32U);
}

void append_hex(std::string& out, std::uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16);
  out.append(digits, end.ptr);
}

}  // namespace

bool is_just_modified(const FileStat& stat, WallTime now) noexcept {
  const WallTime modified{std::chrono::nanoseconds(stat.modified_ns)};
  return modified > now - coarsest_clock &&
         modified <= later(now, WallTime::duration(coarsest_clock));
}

std::string make_etag(const FileStat& stat, WallTime now) {
  std::uint64_t digest = mix(0, static_cast<std::uint64_t>(stat.modified_ns));
  digest = mix(digest, stat.inode);
  digest = mix(digest, stat.size_bytes);
  std::string tag = is_just_modified(stat, now) ? "W/\"" : "\"";
  append_hex(tag, stat.size_bytes);
  tag += '-';
  append_hex(tag, digest);
  tag += '"';
  return tag;
}

}  // namespace skua::files
