// SPDX-License-Identifier: MIT
// In: a request. Out: 401 with a challenge, unless the check accepts its user name and password.
#include <stdexcept>

#include "crypto/constant_time.hpp"
#include "http/challenge.hpp"
#include "middleware/auth_fields.hpp"
#include "skua/auth.hpp"

namespace skua::auth {

bool token_equals(std::string_view given, std::string_view expected) noexcept {
  return crypto::equals(given, expected);
}

BasicGuard::BasicGuard(std::string_view realm, Check check, Role role)
    : challenge_(middleware::realm_challenge("Basic", realm)),
      check_(std::move(check)),
      role_(role) {
  if (!check_) throw std::invalid_argument("auth: basic needs a check");
  http::append_quoted(challenge_, "charset", "UTF-8");  // RFC 7617 §2.1
}

std::optional<Response> BasicGuard::operator()(Request& request) const {
  if (const auto field = middleware::find_credentials(request, role_)) {
    auto credentials = BasicCredentials::parse(*field);
    if (credentials && check_(credentials->user, credentials->password)) {
      request.attachments().set(User{std::move(credentials->user)});
      return std::nullopt;
    }
  }
  Response response = middleware::refuse(role_);
  middleware::add_challenge(response, role_, challenge_);
  return response;
}

BasicGuard basic(std::string_view realm, BasicGuard::Check check, Role role) {
  return {realm, std::move(check), role};
}

}  // namespace skua::auth
