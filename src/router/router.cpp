// SPDX-License-Identifier: MIT
// In: a request. Out: the response of a guard, the handler, or the router itself (404, 405,
// OPTIONS), amended by the finishers. Nothing is caught here: the server decides how to answer an
// exception.
#include "skua/router.hpp"

#include "http/request_parts.hpp"
#include "http/response_conditions.hpp"
#include "router/chain.hpp"
#include "router/match.hpp"
#include "router/table.hpp"
#include "skua/async.hpp"

namespace skua {

Response detail::not_found() { return Status::NotFound; }

router::Match Router::match(Method method, std::string_view canonical_path) const noexcept {
  router::Match match;
  table_->find(method, canonical_path, match);
  return match;
}

Task<Response> Router::start(const router::Match& match, Request& request) const {
  http::RequestAccess::bind(request, &match.captures);
  return router::Chain::run(match, request, 0);
}

std::optional<Response> Router::guard(const router::Match& match, Request& request,
                                      std::size_t& step) const {
  http::RequestAccess::bind(request, &match.captures);
  for (const std::size_t count = router::count_steps(*match.scope); step < count; ++step) {
    const router::Step& next = router::step_at(*match.scope, step);
    std::optional<Response> early = next.guard.call(next.guard.object.get(), request);
    if (early || http::RequestAccess::waits_for_content(request)) return early;
  }
  return std::nullopt;
}

Response Router::invoke(const router::Match& match, Request& request) const {
  std::size_t step = 0;
  if (match.scope->parent != nullptr || !match.scope->steps.empty()) {
    if (std::optional<Response> early = guard(match, request, step)) return *std::move(early);
  }
  return invoke_guarded(match, request);
}

Response Router::invoke_guarded(const router::Match& match, Request& request) const {
  http::RequestAccess::bind(request, &match.captures);
  if (match.route == nullptr) return router::answer_without_route(match.allowed, request.method());
  const detail::Handler& handler = match.route->handler;
  return handler.call(handler.object.get(), request);
}

Response Router::handle(Request& request) const {
  const router::Match found = match(request.method(), request.path());
  Response response = found.has_coroutine ? run(start(found, request)) : invoke(found, request);
  http::apply_conditions(request, response);
  router::for_each_finisher(*found.scope,
                            [&](const detail::Erased<detail::FinisherCall>& finisher) {
                              finisher.call(finisher.object.get(), request, response);
                            });
  http::RequestAccess::bind(request, nullptr);
  return response;
}

}  // namespace skua
