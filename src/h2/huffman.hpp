// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace skua::h2 {

/// Returns the encoded size of a text in bytes. RFC 7541 §5.2
std::size_t huffman_size(std::string_view text) noexcept;

/// Appends the encoded text.
void huffman_encode(std::string_view text, std::string& out);

/// Appends the decoded text. Returns false and appends nothing if the input contains the
/// end-of-string symbol, or padding longer than seven bits or not all ones. RFC 7541 §5.2
[[nodiscard]] bool huffman_decode(std::string_view coded, std::string& out);

/// Writes the encoded text and returns its end; returns null if it is not shorter than the text.
/// `out` must have room for the text plus eight bytes, all of which may be overwritten.
[[nodiscard]] char* huffman_write_shorter(std::string_view text, char* out) noexcept;

/// Returns the most bytes that huffman_read() may write: the shortest code has five bits.
constexpr std::size_t huffman_room(std::size_t coded_bytes) noexcept {
  return coded_bytes + coded_bytes / 5 * 3 + 3;
}

/// Writes the decoded text, at most huffman_room(coded.size()) bytes, and returns its end; returns
/// null if the input is malformed.
[[nodiscard]] char* huffman_read(std::string_view coded, char* out) noexcept;

}  // namespace skua::h2
