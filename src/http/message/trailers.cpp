// SPDX-License-Identifier: MIT
// Decides which fields of a trailer section may be merged into a message: those that do not affect
// how it is framed, routed or understood. RFC 9110 §6.5.1
#include "http/message/trailers.hpp"

#include <stdexcept>
#include <string>

#include "base/ascii.hpp"

namespace skua::http {

bool is_allowed_in_trailers(FieldName name, std::string_view text) noexcept {
  using enum FieldName;
  switch (name) {
    case Other: break;
    case Etag:
    case RetryAfter:
    case Server:
    case UserAgent:
    case XRequestId: return true;
    default:
      return false;  // frames, routes, authenticates, modifies the request or describes content
  }
  // Names that FieldName does not list.
  for (const std::string_view prefix :
       {"content-", "if-", "proxy-", "sec-", "x-forwarded-", "access-control-"}) {
    if (ascii::equals_ignoring_case(text.substr(0, prefix.size()), prefix)) return false;
  }
  for (const std::string_view banned :
       {"max-forwards", "x-real-ip", "x-http-method-override", "strict-transport-security",
        "authentication-info", "accept-charset", "http2-settings", "early-data", "front-end-https",
        "true-client-ip", "cf-connecting-ip", "client-ip", "from", "warning"}) {
    if (ascii::equals_ignoring_case(text, banned)) return false;
  }
  return true;
}

void check_trailer(std::string_view name) {
  if (is_allowed_in_trailers(find_field_name(name), name)) return;
  throw std::invalid_argument("field not allowed in trailers: " + std::string(name));
}

}  // namespace skua::http
