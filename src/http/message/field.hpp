// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "skua/method.hpp"
#include "skua/version.hpp"

namespace skua::http {

/// Field names that skua inspects itself or that nearly every request carries, as small integers
/// that the parser looks up once. At most 63, so that a set of them fits in a 64-bit word.
enum class FieldName : std::uint8_t {
  Other,
  Accept,
  AcceptEncoding,
  AcceptLanguage,
  Authorization,
  CacheControl,
  Connection,
  ContentEncoding,
  ContentLength,
  ContentType,
  Cookie,
  Date,
  Expect,
  Forwarded,
  Host,
  IfMatch,
  IfModifiedSince,
  IfNoneMatch,
  IfRange,
  IfUnmodifiedSince,
  KeepAlive,
  Origin,
  Pragma,
  ProxyAuthorization,
  ProxyConnection,
  Range,
  Referer,
  SecFetchSite,
  SecWebSocketExtensions,
  SecWebSocketKey,
  SecWebSocketProtocol,
  SecWebSocketVersion,
  Te,
  Trailer,
  TransferEncoding,
  Upgrade,
  UserAgent,
  Via,
  XForwardedFor,
  XRequestId,
  // responses
  Age,
  Allow,
  Etag,
  Expires,
  LastModified,
  Location,
  RetryAfter,
  Server,
  SetCookie,
  Vary,
  WwwAuthenticate,
  ProxyAuthenticate,
  AcceptRanges,
  ContentRange,
};

/// Returns the known name with this spelling, ignoring case, or Other.
FieldName find_field_name(std::string_view name) noexcept;

/// Returns a set of names: bit n is FieldName(n).
template <class... Names>
constexpr std::uint64_t set_of(Names... names) noexcept {
  return ((std::uint64_t{1} << static_cast<unsigned>(names)) | ...);
}

/// One field line, as offsets from the first byte of the head.
struct FieldLine {
  std::uint32_t name_begin = 0;
  std::uint32_t value_begin = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t value_bytes = 0;
  FieldName name = FieldName::Other;
};

/// A parsed head of any protocol version, as views of memory that it does not own.
///
/// HTTP/1 parses it in place; HTTP/2 writes its fields into one buffer of the same shape.
struct Head {
  const char* base = nullptr;           ///< offsets count from here
  std::span<const FieldLine> fields{};  ///< in order of arrival
  std::uint64_t known = 0;              ///< bit n: a field with FieldName(n) is present
  std::uint32_t size_bytes = 0;         ///< start line to the empty line, inclusive
  std::uint32_t target_begin = 0;       ///< request target (or the reason phrase of a response)
  std::uint16_t target_bytes = 0;
  std::uint16_t status = 0;        ///< of a response
  Method method = Method::Get;     ///< of a request
  std::uint8_t minor_version = 1;  ///< HTTP/1.minor_version
  std::uint8_t major_version = 1;
  std::uint8_t method_bytes = 0;  ///< of a token that is Method::Other; a space and the target
                                  ///< follow it

  [[nodiscard]] std::string_view target() const noexcept {
    return {base + target_begin, target_bytes};
  }
  /// Returns the method as sent.
  [[nodiscard]] std::string_view method_name() const noexcept {
    if (method != Method::Other || method_bytes == 0) return skua::name(method);
    return {base + target_begin - 1 - method_bytes, method_bytes};
  }
  [[nodiscard]] std::string_view name(const FieldLine& line) const noexcept {
    return {base + line.name_begin, line.name_bytes};
  }
  [[nodiscard]] std::string_view value(const FieldLine& line) const noexcept {
    return {base + line.value_begin, line.value_bytes};
  }
  [[nodiscard]] bool has(FieldName name) const noexcept { return has_any(set_of(name)); }
  [[nodiscard]] bool has_any(std::uint64_t names) const noexcept { return (known & names) != 0; }
  [[nodiscard]] Version version() const noexcept {
    if (major_version >= 2) return Version::Http2;
    return minor_version == 0 ? Version::Http10 : Version::Http11;
  }
  /// Returns the first line with this name, or null.
  [[nodiscard]] const FieldLine* find(FieldName name) const noexcept;
  [[nodiscard]] const FieldLine* find(std::string_view name) const noexcept;
};

/// Returns the value of a list-based field: its lines, joined by commas.
///
/// RFC:       9110 §5.3
inline std::string join_lines(const Head& head, std::string_view name) {
  std::string all;
  for (const FieldLine& line : head.fields) {
    if (!ascii::equals_ignoring_case(head.name(line), name)) continue;
    if (!all.empty()) all.append(", ");
    all.append(head.value(line));
  }
  return all;
}

}  // namespace skua::http
