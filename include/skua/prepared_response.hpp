// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/response.hpp"

namespace skua {

/// A response whose head and body are encoded once; sending it copies nothing but a fresh Date.
///
/// Pass it to a router, which keeps it: `router.get("/", skua::PreparedResponse("Hello, world!"))`.
/// A handler may return a reference to one that outlives the server.
class SKUA_API PreparedResponse final {
 public:
  /// Ends with: std::invalid_argument if the body is a file.
  explicit PreparedResponse(const Response& response);
  PreparedResponse(PreparedResponse&&) noexcept = default;
  PreparedResponse& operator=(PreparedResponse&&) noexcept = default;
  PreparedResponse(const PreparedResponse&) = delete;
  PreparedResponse& operator=(const PreparedResponse&) = delete;
  ~PreparedResponse() = default;

  [[nodiscard]] Status status() const noexcept { return status_; }
  [[nodiscard]] std::string_view body() const noexcept SKUA_LIFETIMEBOUND {
    return std::string_view(wire_).substr(head_bytes_);
  }
  /// Returns the head from `HTTP/1.1 ` through the CRLF of the last field line, with Content-Type
  /// and, if the status allows it, Content-Length. A writer adds Date, Server, Connection and the
  /// empty line.
  [[nodiscard]] std::string_view head() const noexcept SKUA_LIFETIMEBOUND {
    return std::string_view(wire_).substr(0, head_bytes_);
  }
  /// The type and the other fields, as in the head.
  [[nodiscard]] std::string_view content_type() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] const FieldLines& lines() const noexcept SKUA_LIFETIMEBOUND { return lines_; }
  /// Returns the type if it is one of Response's constants; any other type is among the lines.
  [[nodiscard]] std::string_view static_type() const noexcept { return Response::text(type_); }

 private:
  friend class Response;

  std::string wire_;  // head, then body
  FieldLines lines_;
  std::uint32_t head_bytes_ = 0;
  Status status_ = Status::Ok;
  bool closes_connection_ = false;
  Response::KnownType type_ = Response::KnownType::None;
};

}  // namespace skua
