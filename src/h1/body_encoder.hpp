// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skua::h1 {

/// The buffer size that write_chunk_header needs: 16 hex digits and CRLF.
inline constexpr std::size_t chunk_header_bytes = 18;
/// Follows the data of each chunk.
inline constexpr std::string_view chunk_end = "\r\n";
/// Ends a chunked body without trailers.
inline constexpr std::string_view last_chunk = "0\r\n\r\n";

/// Writes the line before a chunk's data and returns its end. The size must not be 0, which would
/// end the body.
///
/// RFC:       9112 §7.1
char* write_chunk_header(std::uint64_t size_bytes, char* out) noexcept;

/// The buffer size that write_last_chunk needs.
[[nodiscard]] constexpr std::size_t last_chunk_bytes(std::string_view trailers) noexcept {
  return last_chunk.size() + trailers.size();
}

/// Writes the end of a chunked body, including trailer lines in wire format, each with CRLF.
///
/// RFC:       9112 §7.1.2
char* write_last_chunk(std::string_view trailers, char* out) noexcept;

}  // namespace skua::h1
