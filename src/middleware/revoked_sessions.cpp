// SPDX-License-Identifier: MIT
// In: a request with a session. Out: the same with an empty one, if the session was revoked.
#include "skua/revoked_sessions.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "skua/session.hpp"

namespace skua {
namespace {

std::string revocation_key(const std::string& id) { return "revoked:" + id; }

}  // namespace

RevokedSessions::RevokedSessions(std::shared_ptr<SharedTexts> texts, std::chrono::seconds lifetime)
    : texts_(std::move(texts)), lifetime_(lifetime) {
  if (lifetime <= std::chrono::seconds::zero()) {
    throw std::invalid_argument("RevokedSessions: lifetime must be positive");
  }
}

Task<Result<void, Problem>> RevokedSessions::revoke(std::string id) const {
  return add(texts_, std::move(id), lifetime_);
}

Task<Result<void, Problem>> RevokedSessions::add(std::shared_ptr<SharedTexts> texts, std::string id,
                                                 Duration lifetime) {
  if (id.empty()) co_return Result<void, Problem>();
  const SharedTexts::Found added = co_await texts->add(revocation_key(id), "1", lifetime);
  if (!added) co_return added.error();
  co_return Result<void, Problem>();
}

Task<Response> RevokedSessions::operator()(Request& request, Next next) const {
  return run(texts_, request, next);
}

Task<Response> RevokedSessions::run(std::shared_ptr<SharedTexts> texts, Request& request,
                                    Next next) {
  // Not through session(), which makes the response private: so far only we have used it.
  const Session* const kept = request.attachments().find<Session>();
  const std::string id = kept != nullptr ? kept->id() : session(request).id();  // which throws
  if (!id.empty()) {
    const SharedTexts::Found found = co_await texts->get(revocation_key(id));
    if (!found) co_return Status::ServiceUnavailable;
    if (*found) session(request).clear();
  }
  Response response = co_await next(request);
  co_return response;
}

}  // namespace skua
