// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "skua/status.hpp"

namespace skua::h1 {

/// Writes a number below 100 as two digits. A table of all pairs would be 200 bytes of each
/// program.
inline void put_pair(std::uint64_t number, char* out) noexcept {
  const auto pair = static_cast<std::uint32_t>(number);
  const std::uint32_t tens = pair * 103 / 1024;
  out[0] = static_cast<char>('0' + tens);
  out[1] = static_cast<char>('0' + pair - 10 * tens);
}

/// Writes a number as 1 to 20 decimal digits and returns their end.
[[gnu::noinline]] char* write_decimal(std::uint64_t number, char* out) noexcept;
/// Like write_decimal(), but writes short numbers inline.
inline char* put_decimal(std::uint64_t number, char* out) noexcept {
  if (number < 10) {
    *out = static_cast<char>('0' + number);
    return out + 1;
  }
  if (number < 100) {
    put_pair(number, out);
    return out + 2;
  }
  return write_decimal(number, out);
}

/// The Connection field to write. Default writes none.
enum class ConnectionField : std::uint8_t { Default, Close, KeepAlive };

/// The framing field to write.
enum class BodyField : std::uint8_t {
  None,     ///< neither field: 1xx, 204, 304 without a length, 2xx to CONNECT, or read until close
  Length,   ///< Content-Length: length_bytes
  Chunked,  ///< Transfer-Encoding: chunked
};

/// A response head to be written.
///
/// The writer validates nothing: field values must already be valid.
struct ResponseHead {
  Status status = Status::Ok;
  BodyField body = BodyField::None;
  ConnectionField connection = ConnectionField::Default;
  std::uint64_t length_bytes = 0;
  std::string_view standard_fields{};  ///< Date and Server in wire format, each with CRLF
  std::string_view content_type{};     ///< empty: no Content-Type field
  std::string_view fields{};           ///< more field lines in wire format, each with CRLF
};

/// The maximum size of a head, not counting its three views.
inline constexpr std::size_t head_overhead_bytes = 256;

/// The buffer size that suffices for write_head.
[[nodiscard]] constexpr std::size_t head_bytes_at_most(const ResponseHead& head) noexcept {
  return head_overhead_bytes + head.standard_fields.size() + head.content_type.size() +
         head.fields.size();
}

/// Writes the head, including the empty line, and returns the end of the output.
/// `out` must have room for head_bytes_at_most(head).
///
/// RFC:       9112 §4, §5
char* write_head(const ResponseHead& head, char* out) noexcept;

/// Appends the head to a string.
SKUA_COLD void append_head(const ResponseHead& head, std::string& out);

/// Returns e.g. `HTTP/1.1 404 Not Found\r\n` for a registered status, or an empty view.
std::string_view status_line(Status status) noexcept;

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
