// SPDX-License-Identifier: MIT
// In: a request. Out: the error response of RFC 6750 §3.1, unless the check accepts its token.
#include <stdexcept>

#include "http/challenge.hpp"
#include "middleware/auth_fields.hpp"
#include "skua/auth.hpp"

namespace skua::auth {
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
