// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "http/authority.hpp"
#include "http/field.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::h1 {

/// How the end of a body is found. RFC 9112 §6.3
enum class BodyKind : std::uint8_t { None, Length, Chunked, UntilClose };

/// The four forms of a request target. RFC 9112 §3.2
enum class TargetForm : std::uint8_t { Origin, Absolute, Authority, Asterisk };

/// Everything that decides where a message ends, whom it is for, and what follows it.
///
/// Lifetime:  the views point into the head's bytes.
struct Framing {
  BodyKind body = BodyKind::None;  ///< a Content-Length of 0 is None
  TargetForm form = TargetForm::Origin;
  bool keep_alive = true;           ///< what the peer allows; we may still close
  bool expect_continue = false;     ///< the peer waits for 100 Continue
  bool has_content_length = false;  ///< `length_bytes` was given (it may be 0)
  std::uint64_t length_bytes = 0;   ///< Content-Length
  std::string_view upgrade{};       ///< Upgrade, where `Connection: upgrade` and HTTP/1.1 are, too
  std::string_view host{};          ///< `uri-host[:port]` of the target, else of Host; may be empty
  std::string_view
      path_and_query{};  ///< begins with '/' ("/" for an empty one); "*"; "" for CONNECT

  /// The head's bytes were copied: refers to the copy from here on.
  void move(std::string_view from, const char* to) noexcept;
};

/// Decides a request's framing, or which rule it breaks.
///
/// Ends with: InvalidHost, MalformedTarget, InvalidContentLength, AmbiguousFraming,
///            InvalidTransferEncoding, UnsupportedTransferCoding, UnknownExpectation.
/// RFC:       9112 §3.2, §6, §9.3; 9110 §10.1.1
Result<Framing> frame_request(const http::Head& head) noexcept;
/// The same, remembering the Host that it checked last.
Result<Framing> frame_request(const http::Head& head, http::LastAuthority& known_host) noexcept;

/// Decides a response's framing; it depends on the method that was asked with.
///
/// RFC:       9112 §6.3
Result<Framing> frame_response(const http::Head& head, Method request_method) noexcept;

}  // namespace skua::h1
