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

namespace {

std::string basic_challenge(std::string_view realm) {
  std::string challenge = middleware::realm_challenge("Basic", realm);
  http::append_quoted(challenge, "charset", "UTF-8");  // RFC 7617 §2.1
  return challenge;
}

std::optional<BasicCredentials> basic_credentials(const Request& request, Role role) {
  const auto field = middleware::find_credentials(request, role);
  if (!field) return std::nullopt;
  Result<BasicCredentials> parsed = BasicCredentials::parse(*field);
  if (!parsed) return std::nullopt;
  return *std::move(parsed);
}

Response ask_for_password(Role role, std::string_view challenge) {
  Response response = middleware::refuse(role);
  middleware::add_challenge(response, role, challenge);
  return response;
}

}  // namespace

BasicGuard::BasicGuard(std::string_view realm, Check check, Role role)
    : challenge_(basic_challenge(realm)), check_(std::move(check)), role_(role) {
  if (!check_) throw std::invalid_argument("auth: basic needs a check");
}

std::optional<Response> BasicGuard::operator()(Request& request) const {
  auto credentials = basic_credentials(request, role_);
  if (!credentials || !check_(credentials->user, credentials->password)) {
    return ask_for_password(role_, challenge_);
  }
  request.attachments().set(User{std::move(credentials->user)});
  return std::nullopt;
}

BasicGuard basic(std::string_view realm, BasicGuard::Check check, Role role) {
  return {realm, std::move(check), role};
}

struct WaitingBasic::Kept {
  std::string challenge{};
  Check check{};
  Role role{};
};

WaitingBasic::WaitingBasic(std::string_view realm, Check check, Role role) {
  if (!check) throw std::invalid_argument("auth: basic needs a check");
  kept_ = std::make_shared<const Kept>(Kept{basic_challenge(realm), std::move(check), role});
}

Task<Response> WaitingBasic::operator()(Request& request, Next next) const {
  return run(kept_, request, next);
}

Task<Response> WaitingBasic::run(std::shared_ptr<const Kept> kept, Request& request, Next next) {
  auto credentials = basic_credentials(request, kept->role);
  bool is_right = false;
  if (credentials) is_right = co_await kept->check(credentials->user, credentials->password);
  if (!is_right) co_return ask_for_password(kept->role, kept->challenge);
  request.attachments().set(User{std::move(credentials->user)});
  Response response = co_await next(request);
  co_return response;
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

/// A token, or the response to a request without a usable one.
struct Token {
  std::string_view text{};
  std::optional<Response> refusal{};
};

Token find_token(const Request& request, const std::string& challenge) {
  const auto field = middleware::find_credentials(request, Role::Origin);
  const auto token = field ? http::after_scheme(*field, "Bearer") : std::nullopt;
  if (!token) return {.refusal = answer(Status::Unauthorized, challenge, {})};
  if (!http::is_token68(*token)) {
    return {.refusal = answer(Status::BadRequest, challenge, "invalid_request")};
  }
  return {.text = *token};
}

}  // namespace

TokenVerdict TokenVerdict::lacks_scope(std::string_view scope) {
  TokenVerdict verdict(false);
  verdict.kind_ = Kind::LacksScope;
  verdict.scope_ = scope;
  return verdict;
}

std::optional<Response> TokenVerdict::apply(Request& request, const std::string& challenge) && {
  switch (kind_) {
    case Kind::Invalid: return answer(Status::Unauthorized, challenge, "invalid_token");
    case Kind::LacksScope:
      return answer(Status::Forbidden, challenge, "insufficient_scope", scope_);
    case Kind::Valid: break;
  }
  if (user_) request.attachments().set(*std::move(user_));
  return std::nullopt;
}

BearerGuard::BearerGuard(Check check, std::string_view realm)
    : challenge_(middleware::realm_challenge("Bearer", realm)), check_(std::move(check)) {
  if (!check_) throw std::invalid_argument("auth: bearer needs a check");
}

std::optional<Response> BearerGuard::operator()(Request& request) const {
  Token token = find_token(request, challenge_);
  if (token.refusal) return std::move(token.refusal);
  return check_(token.text).apply(request, challenge_);
}

BearerGuard bearer(BearerGuard::Check check, std::string_view realm) {
  return {std::move(check), realm};
}

struct WaitingBearer::Kept {
  std::string challenge{};
  Check check{};
};

WaitingBearer::WaitingBearer(Check check, std::string_view realm) {
  if (!check) throw std::invalid_argument("auth: bearer needs a check");
  kept_ = std::make_shared<const Kept>(
      Kept{middleware::realm_challenge("Bearer", realm), std::move(check)});
}

Task<Response> WaitingBearer::operator()(Request& request, Next next) const {
  return run(kept_, request, next);
}

Task<Response> WaitingBearer::run(std::shared_ptr<const Kept> kept, Request& request, Next next) {
  Token token = find_token(request, kept->challenge);
  if (token.refusal) co_return *std::move(token.refusal);
  TokenVerdict verdict = co_await kept->check(token.text);
  std::optional<Response> refusal = std::move(verdict).apply(request, kept->challenge);
  if (refusal) co_return *std::move(refusal);
  Response response = co_await next(request);
  co_return response;
}

}  // namespace skua::auth
