// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "h1/framing.hpp"
#include "h1/head_writer.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/url.hpp"

namespace skua::h1 {

/// How a request is to be written; the rest of it are its URL and its fields.
struct RequestHead {
  Method method = Method::Get;
  /// Origin to a server, Absolute to a proxy that is to fetch it, Authority for CONNECT and for
  /// nothing else, Asterisk for OPTIONS of the server itself.
  TargetForm form = TargetForm::Origin;
  BodyField body = BodyField::None;
  ConnectionField connection = ConnectionField::Default;
  std::uint64_t length_bytes = 0;
};

/// Appends a request's head, empty line included.
///
/// Of the URL go out host, port, path and query; never userinfo or fragment. ws and wss are http
/// and https. `fields` follow as they are, but for those that are ours to write: a Host of theirs
/// replaces that of the URL and comes first all the same; Content-Length and Transfer-Encoding are
/// left out, and so is Expect where nothing follows that could wait. A length of 0 is written where
/// the method would have content (POST, PUT, PATCH), and nowhere else.
///
/// Ends with: MalformedUrl for a URL that is not of http(s) or ws(s) or has no host; InvalidHost
/// for
///            a Host that is repeated, malformed, or another than a target that names one;
///            MalformedTarget for a form that the method cannot have; Unsupported for content of
///            CONNECT or TRACE. Nothing was appended then.
/// RFC:       9112 §3, §6; 9110 §7.2, §8.6, §10.1.1
Result<void> append_request_head(const RequestHead& head, const Url& url, const FieldLines& fields,
                                 std::string& out);

/// Whom a request is for: what its Host field says, and `:authority` in HTTP/2.
///
/// Ends with: what append_request_head() refuses.
Result<std::string> request_host(const RequestHead& head, const Url& url, const FieldLines& fields);
/// The request target that append_request_head() writes. RFC 9112 §3.2
std::string request_target(const RequestHead& head, const Url& url);
/// The Content-Length that append_request_head() writes, if any.
std::optional<std::uint64_t> told_length(const RequestHead& head) noexcept;

}  // namespace skua::h1
