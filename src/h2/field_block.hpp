// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "h2/hpack_encoder.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"

namespace skua::h2 {

/// A response head. Its views need to be valid only during the call.
struct ResponseHead {
  Status status = Status::Ok;
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, if it is to be sent
  std::string_view date{};                      ///< empty: not sent; likewise for the next two
  std::string_view server{};
  std::string_view content_type{};
  /// Each may be null. Names are lowercased; fields that HTTP/2 forbids are dropped (RFC 9113
  /// §8.2.2).
  const FieldLines* prepared_fields = nullptr;
  const FieldLines* fields = nullptr;
};

/// A request head. Its views need to be valid only during the call.
struct RequestLines {
  Method method = Method::Get;
  std::string_view other_method{};  ///< a token to send in place of the method's name
  std::string_view scheme = "https";
  std::string_view authority{};
  std::string_view path = "/";                  ///< including the query
  std::string_view protocol{};                  ///< with CONNECT: RFC 8441 §4
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, if it is to be sent
  /// Complete lines. Names are lowercased; fields that HTTP/2 forbids, or that are covered by the
  /// members above, are dropped (RFC 9113 §8.2.2).
  std::string_view fields{};
  std::string* shown = nullptr;  ///< if not null, the field lines are appended to it as sent
};

/// Writes the header block of a response, after HpackEncoder::start. RFC 9113 §8.3.2
void write_response(HpackEncoder& encoder, const ResponseHead& head, std::string& block);
/// Writes the header block of a request. Drops HTTP/1 fields, and splits cookies so that only
/// changed ones are written in full. RFC 9113 §8.2.2, §8.2.3, §8.3.1
void write_request(HpackEncoder& encoder, const RequestLines& head, std::string& block);
/// Writes a section that has only field lines, such as trailers.
void write_lines(HpackEncoder& encoder, std::string_view lines, std::string& block);

}  // namespace skua::h2
