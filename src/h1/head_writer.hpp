// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "skua/status.hpp"

namespace skua::h1 {

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
void append_head(const ResponseHead& head, std::string& out);

/// Returns e.g. `HTTP/1.1 404 Not Found\r\n` for a registered status, or an empty view.
std::string_view status_line(Status status) noexcept;

/// Writes a number as 1 to 20 decimal digits and returns their end.
char* write_decimal(std::uint64_t number, char* out) noexcept;

}  // namespace skua::h1
