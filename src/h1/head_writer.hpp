// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "skua/status.hpp"

namespace skua::h1 {

/// What the Connection field says; Default leaves it out.
enum class ConnectionField : std::uint8_t { Default, Close, KeepAlive };

/// How the writer frames the body.
enum class BodyField : std::uint8_t {
  None,    ///< neither field: 1xx, 204, 304 without a length, a 2xx to CONNECT, or read until close
  Length,  ///< Content-Length: length_bytes
  Chunked,  ///< Transfer-Encoding: chunked
};

/// A response head that is about to be written. Views are copied out by write_head.
///
/// The writer checks nothing: field values must have been validated before they came here.
struct ResponseHead {
  Status status = Status::Ok;
  BodyField body = BodyField::None;
  ConnectionField connection = ConnectionField::Default;
  std::uint64_t length_bytes = 0;
  std::string_view standard_fields{};  ///< Date and Server, as they stand on the wire with CRLF
  std::string_view content_type{};     ///< empty: no Content-Type
  std::string_view fields{};  ///< more field lines as they stand on the wire, each with CRLF
};

/// No head is longer than this plus its three views.
inline constexpr std::size_t head_overhead_bytes = 256;

/// The room that write_head needs at most.
[[nodiscard]] constexpr std::size_t head_bytes_at_most(const ResponseHead& head) noexcept {
  return head_overhead_bytes + head.standard_fields.size() + head.content_type.size() +
         head.fields.size();
}

/// Writes the head, empty line included, and returns the end of what it wrote.
/// `out` has room for head_bytes_at_most(head).
///
/// RFC:       9112 §4, §5
char* write_head(const ResponseHead& head, char* out) noexcept;

/// The same at the end of a string.
void append_head(const ResponseHead& head, std::string& out);

/// `HTTP/1.1 404 Not Found\r\n`, of a registered status; empty for others.
std::string_view status_line(Status status) noexcept;

/// Writes a number in decimal digits; at most 20 of them.
char* write_decimal(std::uint64_t number, char* out) noexcept;

}  // namespace skua::h1
