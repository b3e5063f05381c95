// SPDX-License-Identifier: MIT
// Reads credentials from a request and writes challenges into a response. This is the only place
// that knows the different field names of servers and proxies.
#include "middleware/auth_fields.hpp"

#include <stdexcept>

#include "base/ascii.hpp"
#include "http/challenge.hpp"
#include "http/field.hpp"
#include "http/request_parts.hpp"

namespace skua::middleware {

std::optional<std::string_view> find_credentials(const Request& request, auth::Role role) noexcept {
  const http::FieldName wanted = role == auth::Role::Origin ? http::FieldName::Authorization
                                                            : http::FieldName::ProxyAuthorization;
  const http::Head& head = *http::RequestAccess::parts(request).head;
  std::optional<std::string_view> found;
  if (!head.has(wanted)) return found;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != wanted) continue;
    if (found) return std::nullopt;
    found = head.value(line);
  }
  return found;
}

Response refuse(auth::Role role) {
  return role == auth::Role::Origin ? Status::Unauthorized : Status::ProxyAuthenticationRequired;
}

void add_challenge(Response& response, auth::Role role, std::string_view challenge) {
  response.add_header(role == auth::Role::Origin ? "WWW-Authenticate" : "Proxy-Authenticate",
                      challenge);
}

std::string realm_challenge(std::string_view scheme, std::string_view realm) {
  for (const char c : realm) {
    if (!ascii::is_field_value(c)) {
      throw std::invalid_argument("auth: the realm contains a control character");
    }
  }
  std::string challenge(scheme);
  challenge += ' ';
  http::append_quoted(challenge, "realm", realm);
  return challenge;
}

}  // namespace skua::middleware
