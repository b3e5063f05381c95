// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/client_options.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// The request that a response may redirect.
struct RedirectedRequest {
  Method method = Method::Get;
  bool has_body = false;
  bool can_resend_body = false;  ///< the whole body is still available
  unsigned followed_count = 0;   ///< redirects that led to this request
};

/// The next request.
struct Redirect {
  Method method = Method::Get;
  Url url{};                      ///< without userinfo; the fragment is for the caller only
  bool keeps_body = false;        ///< otherwise fields that describe content are dropped, too
  bool keeps_credentials = true;  ///< false for another origin: drops Authorization, Cookie, ...
};

/// Why there is no next request: the response is the answer, or an error.
enum class RedirectStop : std::uint8_t {
  NotARedirect,  ///< another status, also 300 and 304, or an answer to CONNECT
  NoLocation,
  MalformedLocation,  ///< not a URI reference, or without a host
  UnsupportedScheme,  ///< neither http nor https
  HasUserinfo,        ///< a server must not choose our name and password
  HttpsToHttp,
  BodyIsGone,  ///< the method is kept, but its body cannot be sent again
  TooMany,
};

/// Returns the reason as a sentence without a full stop.
std::string_view message(RedirectStop stop) noexcept;

/// Decides what follows a response: the next request, or why there is none.
///
/// `url` is the request's; `location` is the Location field as received, if there is exactly one.
/// Characters in it that browsers encode are encoded.
/// RFC:       9110 §10.2.2, §15.4; 6454 §4
[[nodiscard]] Result<Redirect, RedirectStop> next_request(const RedirectedRequest& request,
                                                          const Url& url, Status status,
                                                          std::optional<std::string_view> location,
                                                          const RedirectOptions& options = {});

/// Removes fields that must not be sent again, or would be wrong: Host, Origin, Referer and
/// credentials if the origin changes, and those that describe or expect content if the body is
/// dropped.
///
/// RFC:       9110 §15.4
void drop_fields(const Redirect& redirect, FieldLines& fields);

}  // namespace skua::client
