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
  bool can_resend_body = false;  ///< the body is still there as a whole
  unsigned followed_count = 0;   ///< redirects that led to this request
};

/// The request to be made next.
struct Redirect {
  Method method = Method::Get;
  Url url{};                      ///< without userinfo; the fragment is for whoever reads the page
  bool keeps_body = false;        ///< else what describes the content goes, too
  bool keeps_credentials = true;  ///< else Authorization, Cookie and their like go: another origin
};

/// Why there is no next request: the response is the answer, or the end.
enum class RedirectStop : std::uint8_t {
  NotARedirect,  ///< another status, also 300 and 304, or an answer to CONNECT
  NoLocation,
  MalformedLocation,  ///< no URI reference, or one without a host
  UnsupportedScheme,  ///< neither http nor https
  HasUserinfo,        ///< a server chooses no name and password for us
  HttpsToHttp,
  BodyIsGone,  ///< the method stays, and with it a body that cannot be sent again
  TooMany,
};

/// The sentence for it, without a full stop.
std::string_view message(RedirectStop stop) noexcept;

/// Decides what follows a response: the next request, or why there is none.
///
/// `url` is that of the request, `location` the Location field where there is exactly one, as it
/// was received; what browsers encode in it is encoded.
/// RFC:       9110 §10.2.2, §15.4; 6454 §4
[[nodiscard]] Result<Redirect, RedirectStop> next_request(const RedirectedRequest& request,
                                                          const Url& url, Status status,
                                                          std::optional<std::string_view> location,
                                                          const RedirectOptions& options = {});

/// Takes the fields away that must not go along, or would be wrong: Host and Origin and Referer and
/// credentials where the origin is another, and those that describe or expect content where the
/// body stays behind.
///
/// RFC:       9110 §15.4
void drop_fields(const Redirect& redirect, FieldLines& fields);

}  // namespace skua::client
