// SPDX-License-Identifier: MIT
//
// In: a piece of a byte stream and how much of CR LF CR LF preceded it. Out: how many heads end in
// it. The idea: look at the byte where the terminator would end. Most bytes are neither CR nor LF,
// which rules out the next four positions at once, so about a quarter of the bytes are read; only
// the seam between pieces is scanned byte by byte.

#include "heads.hpp"

namespace bench::raw {
namespace {

constexpr std::string_view terminator = "\r\n\r\n";

// One step of the terminator's automaton: `next` follows `matched` matching bytes.
std::uint8_t advance(std::uint8_t matched, char next) noexcept {
  if (next == terminator[matched]) return static_cast<std::uint8_t>(matched + 1);
  return next == '\r' ? 1 : 0;
}

// Returns how much of the terminator is at the end of `rest`, which contains no whole one.
std::uint8_t suffix(std::string_view rest) noexcept {
  std::uint8_t matched = 0;
  for (const char next : rest.substr(rest.size() > 3 ? rest.size() - 3 : 0)) {
    matched = advance(matched, next);
  }
  return matched;
}

}  // namespace

std::size_t count_heads(std::string_view bytes, std::uint8_t& matched) noexcept {
  std::size_t count = 0;
  std::size_t start = 0;
  while (matched != 0 && start < bytes.size()) {
    matched = advance(matched, bytes[start++]);
    // A lone CR begins a new terminator, which the search below finds.
    if (matched == 1) {
      matched = 0;
      --start;
      break;
    }
    if (matched == terminator.size()) {
      matched = 0;
      ++count;
    }
  }
  if (start == bytes.size()) return count;

  const char* const data = bytes.data();
  for (std::size_t end = start + 3; end < bytes.size();) {
    if (data[end] == '\n') {
      if (data[end - 1] == '\r' && data[end - 2] == '\n' && data[end - 3] == '\r') {
        ++count;
        start = end + 1;
        end += 4;
      } else {
        end += 2;  // it may be the first LF of a terminator
      }
    } else {
      end += data[end] == '\r' ? 1 : 4;
    }
  }
  matched = suffix(bytes.substr(start));
  return count;
}

}  // namespace bench::raw
