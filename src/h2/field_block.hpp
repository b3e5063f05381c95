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

/// A response's head. Views are needed during the call only.
struct ResponseHead {
  Status status = Status::Ok;
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, where there is to be one
  std::string_view date{};                      ///< empty: none, as the next two
  std::string_view server{};
  std::string_view content_type{};
  /// Each may be null. Names become lower-case; those that HTTP/2 forbids are left out (RFC 9113
  /// §8.2.2).
  const FieldLines* prepared_fields = nullptr;
  const FieldLines* fields = nullptr;
};

/// A request's head. Views are needed during the call only.
struct RequestLines {
  Method method = Method::Get;
  std::string_view scheme = "https";
  std::string_view authority{};
  std::string_view path = "/";                  ///< and query
  std::optional<std::uint64_t> length_bytes{};  ///< Content-Length, where there is to be one
  /// Complete lines. Names become lower-case; those that HTTP/2 forbids, or that are told by the
  /// above, are left out (RFC 9113 §8.2.2).
  std::string_view fields{};
  std::string* shown = nullptr;  ///< lines of the fields as they are sent are appended to it
};

/// A response's header block, behind HpackEncoder::start. RFC 9113 §8.3.2
void write_response(HpackEncoder& encoder, const ResponseHead& head, std::string& block);
/// A request's: fields that belong to HTTP/1 are left out, cookies are split, so that only those
/// that have changed are written out. RFC 9113 §8.2.2, §8.2.3, §8.3.1
void write_request(HpackEncoder& encoder, const RequestLines& head, std::string& block);
/// A trailer section, or whatever has field lines only.
void write_lines(HpackEncoder& encoder, std::string_view lines, std::string& block);

}  // namespace skua::h2
