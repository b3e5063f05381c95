// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skua::h2 {

/// How many bytes a text takes when it is coded. RFC 7541 §5.2
std::size_t huffman_size(std::string_view text) noexcept;

/// Appends a text, coded.
void huffman_encode(std::string_view text, std::string& out);

/// Appends what was coded. Returns false, with nothing appended, if the end-of-string symbol is in
/// it, or if its padding is longer than seven bits or not all ones. RFC 7541 §5.2
[[nodiscard]] bool huffman_decode(std::string_view coded, std::string& out);

/// Writes a text, coded, if that is shorter than the text, and returns the end; null if it is not.
/// There is room for the text and for eight bytes behind it, which may be overwritten.
[[nodiscard]] char* huffman_write_shorter(std::string_view text, char* out) noexcept;

/// What huffman_read() may write at most: the shortest code has five bits.
constexpr std::size_t huffman_room(std::size_t coded_bytes) noexcept {
  return coded_bytes + coded_bytes / 5 * 3 + 3;
}

/// Writes what was coded, at most huffman_room(coded.size()) bytes, and returns their end; null if
/// it is malformed.
[[nodiscard]] char* huffman_read(std::string_view coded, char* out) noexcept;

}  // namespace skua::h2
