// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/message/field.hpp"
#include "http/uri/authority.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::h1 {

/// How a body is delimited. RFC 9112 §6.3
enum class BodyKind : std::uint8_t { None, Length, Chunked, UntilClose };

/// The four forms of a request target. RFC 9112 §3.2
enum class TargetForm : std::uint8_t { Origin, Absolute, Authority, Asterisk };

/// The end of a message, its target, and what may follow it on the connection.
///
/// Lifetime:  the views point into the head's bytes.
struct Framing {
  BodyKind body = BodyKind::None;  ///< a Content-Length of 0 is None
  TargetForm form = TargetForm::Origin;
  bool keep_alive = true;             ///< what the peer allows; we may still close
  bool expect_continue = false;       ///< the peer waits for 100 Continue
  bool has_content_length = false;    ///< `length_bytes` is set (and may be 0)
  std::uint64_t length_bytes = 0;     ///< Content-Length
  std::string_view upgrade{};         ///< Upgrade, if HTTP/1.1 with `Connection: upgrade`
  std::string_view host{};            ///< `uri-host[:port]` of the target or of Host; may be empty
  std::string_view path_and_query{};  ///< starts with '/', even if empty; "*"; "" for CONNECT

  /// Repoints the views from the head's bytes to a copy of them.
  void move(std::string_view from, const char* to) noexcept;
};

/// Determines a request's framing, or the rule that it breaks.
///
/// Ends with: InvalidHost, MalformedTarget, InvalidContentLength, AmbiguousFraming,
///            InvalidTransferEncoding, UnsupportedTransferCoding, UnknownExpectation.
/// RFC:       9112 §3.2, §6, §9.3; 9110 §10.1.1
Result<Framing> frame_request(const http::Head& head) noexcept;
/// Like the above, but caches the last valid Host in `known_host`.
Result<Framing> frame_request(const http::Head& head, http::LastAuthority& known_host) noexcept;

/// Determines a response's framing, which depends on the request method.
///
/// RFC:       9112 §6.3
Result<Framing> frame_response(const http::Head& head, Method request_method) noexcept;

}  // namespace skua::h1
