// SPDX-License-Identifier: MIT
// Reads credentials from a request and writes challenges into a response. This is the only place
// that knows the different field names of servers and proxies.
#include "middleware/auth.hpp"

#include <stdexcept>

#include "base/ascii.hpp"
#include "crypto/digest.hpp"
#include "http/auth/challenge.hpp"
#include "http/message/field.hpp"
#include "http/message/request_parts.hpp"
#include "skua/auth.hpp"

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

// In: a request. Out: 401 with a challenge, unless the check accepts its user name and password.

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

// In: a request. Out: the error response of RFC 6750 §3.1, unless the check accepts its token.

namespace {

Response answer(Status status, std::string challenge, std::string_view error,
                std::string_view scope = {}) {
  // RFC 6750 §3.1: no error code for a request without credentials.
  if (!error.empty()) http::append_quoted(challenge, "error", error);
  if (!scope.empty()) http::append_quoted(challenge, "scope", scope);
  Response response = status;
  middleware::add_challenge(response, Role::Origin, challenge);
  return response;
}

}  // namespace

TokenVerdict TokenVerdict::lacks_scope(std::string_view scope) {
  TokenVerdict verdict(false);
  verdict.kind_ = Kind::LacksScope;
  verdict.scope_ = scope;
  return verdict;
}

BearerGuard::BearerGuard(Check check, std::string_view realm)
    : challenge_(middleware::realm_challenge("Bearer", realm)), check_(std::move(check)) {
  if (!check_) throw std::invalid_argument("auth: bearer needs a check");
}

std::optional<Response> BearerGuard::operator()(Request& request) const {
  const auto field = middleware::find_credentials(request, Role::Origin);
  const auto token = field ? http::after_scheme(*field, "Bearer") : std::nullopt;
  if (!token) return answer(Status::Unauthorized, challenge_, {});
  if (!http::is_token68(*token)) return answer(Status::BadRequest, challenge_, "invalid_request");
  TokenVerdict verdict = check_(*token);
  switch (verdict.kind_) {
    case TokenVerdict::Kind::Invalid:
      return answer(Status::Unauthorized, challenge_, "invalid_token");
    case TokenVerdict::Kind::LacksScope:
      return answer(Status::Forbidden, challenge_, "insufficient_scope", verdict.scope_);
    case TokenVerdict::Kind::Valid: break;
  }
  if (verdict.user_) request.attachments().set(*std::move(verdict.user_));
  return std::nullopt;
}

BearerGuard bearer(BearerGuard::Check check, std::string_view realm) {
  return {std::move(check), realm};
}

}  // namespace skua::auth
