// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "h1/framing.hpp"
#include "h1/message_writer.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/url.hpp"

namespace skua::h1 {

/// The parts of a request head other than its URL and its fields.
struct RequestHead {
  Method method = Method::Get;
  std::string_view other_method{};  ///< a token to send in place of the method's name
  /// Sent in place of the URL's path and query, in origin form; the caller has checked it.
  std::string_view target{};
  /// Origin for a server, Absolute for a proxy, Authority for CONNECT only, Asterisk for OPTIONS of
  /// the server itself.
  TargetForm form = TargetForm::Origin;
  BodyField body = BodyField::None;
  ConnectionField connection = ConnectionField::Default;
  std::uint64_t length_bytes = 0;
};

/// Appends a request's head, including the empty line.
///
/// Sends the URL's host, port, path and query, but never its userinfo or fragment. ws and wss are
/// treated as http and https. `fields` follow unchanged, with these exceptions: a Host field
/// replaces the URL's host and still comes first; Content-Length and Transfer-Encoding are dropped,
/// and so is Expect if there is no content. A length of 0 is written only if the method anticipates
/// content (POST, PUT, PATCH).
///
/// Ends with: MalformedUrl if the scheme is not http(s) or ws(s) or the host is missing;
///            InvalidHost if Host is repeated, malformed, or differs from the target's authority;
///            MalformedTarget if the form does not suit the method; Unsupported if CONNECT or TRACE
///            has content. Nothing is appended on error.
/// RFC:       9112 §3, §6; 9110 §7.2, §8.6, §10.1.1
Result<void> append_request_head(const RequestHead& head, const Url& url, const FieldLines& fields,
                                 std::string& out);

/// Returns the method that append_request_head() writes.
std::string_view method_name(const RequestHead& head) noexcept;

/// Returns the value of a request's Host field, or of `:authority` in HTTP/2.
///
/// Ends with: the errors of append_request_head().
Result<std::string> request_host(const RequestHead& head, const Url& url, const FieldLines& fields);
/// Returns the request target that append_request_head() writes. RFC 9112 §3.2
std::string request_target(const RequestHead& head, const Url& url);
/// Returns the Content-Length that append_request_head() writes, if any.
std::optional<std::uint64_t> content_length_to_send(const RequestHead& head) noexcept;

}  // namespace skua::h1
