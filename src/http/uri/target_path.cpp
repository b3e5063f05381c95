// SPDX-License-Identifier: MIT
// In: the raw path of a request target. Out: the canonical path that the rest of the program sees.
// It is decoded once, then normalized once, and refused if two readers could read it differently.
// Nearly every path is canonical already: one pass detects that and returns the input.
#include "http/uri/target_path.hpp"

#include <array>
#include <cstring>

#include "base/ascii.hpp"
#include "base/compiler.hpp"
#include "base/percent.hpp"
#include "skua/config.hpp"

namespace skua::http {
namespace {

constexpr bool is_special(char c) noexcept { return ascii::is_control(c) || c == '%' || c == '\\'; }

using Block = compiler::Bytes16;

// Reports whether a path with these bytes may have to change: bytes that are refused or decoded,
// "//" or "/.". Inspects 16 bytes and the one after them, for pairs.
bool needs_care(const char* at) noexcept {
  static_assert(('.' | 1) == '/');
  const Block now = compiler::load16(at);
  const Block next = compiler::load16(at + 1);
  return compiler::has_any((now < 0x20) | (now == 0x7f) | (now == '%') | (now == '\\') |
                           ((now == '/') & ((next | 1) == '/')));
}

bool is_canonical(std::string_view path) noexcept {
  constexpr std::size_t window = sizeof(Block) + 1;
  if (path.size() < window) {
    std::array<char, 2 * sizeof(Block)> padded;
    padded.fill('a');
    std::memcpy(padded.data(), path.data(), path.size());
    return !needs_care(padded.data());
  }
  std::size_t at = 0;
  for (; at + window <= path.size(); at += sizeof(Block)) {
    if (needs_care(path.data() + at)) return false;
  }
  // The last window overlaps the one before; its last byte has no successor and is checked alone.
  const char* const end = path.data() + path.size();
  return !needs_care(end - window) && !is_special(end[-1]);
}

// Decodes into `out` and returns the number of bytes written, or an error for refused input.
Result<std::size_t> decode(std::string_view raw, char* out) noexcept {
  std::size_t size = 0;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '%') {
      const std::string_view rest = raw.substr(i);
      if (!percent::has_triplet(rest)) return Error(Errc::MalformedTarget);
      c = percent::triplet_octet(rest);
      i += percent::triplet_bytes - 1;
      // Once decoded, a slash that is data cannot be told from a separator.
      if (c == '/') return Error(Errc::MalformedTarget);
    }
    if (c == '\\' || ascii::is_control(c)) return Error(Errc::MalformedTarget);
    out[size++] = c;
  }
  return size;
}

// Implements RFC 3986 §5.2.4 in place: `text` starts with '/', and writing never overtakes reading.
Result<std::size_t> normalise(std::span<char> text) noexcept {
  std::size_t size = 0;
  bool is_folder = false;  // ends in a slash, or in a dot segment, which implies one
  for (std::size_t begin = 1; begin <= text.size();) {
    const auto* const slash =
        static_cast<const char*>(std::memchr(text.data() + begin, '/', text.size() - begin));
    const std::size_t end =
        slash == nullptr ? text.size() : static_cast<std::size_t>(slash - text.data());
    const std::string_view segment(text.data() + begin, end - begin);
    is_folder = segment.empty() || segment == "." || segment == "..";
    if (segment == "..") {
      if (size == 0) return Error(Errc::MalformedTarget);
      while (text[--size] != '/') {
      }
    } else if (!is_folder) {
      text[size++] = '/';
      std::memmove(text.data() + size, segment.data(), segment.size());
      size += segment.size();
    }
    begin = end + 1;
  }
  if (is_folder) text[size++] = '/';
  return size;
}

}  // namespace

bool may_stay_as_sent(std::string_view raw) noexcept {
  if (!raw.starts_with('/')) return false;
  std::size_t dots = 0;  // of the segment so far
  bool is_dots = true;   // it has nothing else
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const bool is_encoded = raw[i] == '%';
    if (is_encoded && !percent::has_triplet(raw.substr(i))) return false;
    const char c = is_encoded ? percent::triplet_octet(raw.substr(i)) : raw[i];
    if (is_encoded) i += percent::triplet_bytes - 1;
    if (ascii::is_control(c) || (c == '\\' && !is_encoded)) return false;
    if (c == '/' || c == '\\') {
      if (is_dots && (dots == 1 || dots == 2)) return false;
      dots = 0;
      is_dots = true;
    } else if (c == '.') {
      ++dots;
    } else {
      is_dots = false;
    }
  }
  return !is_dots || (dots != 1 && dots != 2);
}

TargetParts split_target(std::string_view target) noexcept {
  // RFC 9112 §3.2.2: absolute-form; the framing has already checked its authority.
  if (const std::size_t scheme = target.find("://");
      scheme != target.npos && target.find_first_of("/?") == scheme + 1) {
    const std::size_t path = target.find_first_of("/?", scheme + 3);
    target = path == target.npos ? std::string_view{} : target.substr(path);
  }
  const std::size_t mark = target.find('?');
  if (mark == target.npos) return {target.empty() ? std::string_view("/") : target, {}};
  return {mark == 0 ? std::string_view("/") : target.substr(0, mark), target.substr(mark + 1)};
}

Result<std::string_view> canonical_path(std::string_view raw, std::span<char> scratch) noexcept {
  if (raw == "*") return raw;
  if (!raw.starts_with('/')) return Error(Errc::MalformedTarget);
  if (raw.size() == 1 || is_canonical(raw)) return raw;
  SKUA_ASSERT(scratch.size() >= raw.size());
  const Result<std::size_t> decoded = decode(raw, scratch.data());
  if (!decoded) return decoded.error();
  const Result<std::size_t> size = normalise(scratch.first(*decoded));
  if (!size) return size.error();
  return std::string_view(scratch.data(), *size);
}

}  // namespace skua::http
