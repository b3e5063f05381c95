// SPDX-License-Identifier: MIT
// In: a request. Out: the response of a guard, the handler, or the router itself (404, 405,
// OPTIONS), amended by the finishers. Nothing is caught here: the server decides how to answer an
// exception.

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "http/message/request_parts.hpp"
#include "http/message/response_parts.hpp"
#include "router/last_request.hpp"
#include "router/table.hpp"
#include "router/tree.hpp"
#include "skua/async.hpp"
#include "skua/responder.hpp"
#include "skua/router.hpp"

namespace skua {
namespace {

Response invoke_all(const Router& router, const router::Match& match, Request& request) {
  std::size_t step = 0;
  if (std::optional<Response> early = router.guard(match, request, step)) return *std::move(early);
  return router.invoke_guarded(match, request);
}

}  // namespace

Response detail::not_found() { return Status::NotFound; }

router::Match Router::match(Method method, std::string_view canonical_path) const noexcept {
  router::Match match;
  table_->find(method, canonical_path, match);
  return match;
}

router::Match Router::match(const Request& request) const noexcept {
  const bool is_as_sent = http::RequestAccess::parts(request).is_path_as_sent;
  return is_as_sent ? match_as_sent(request.method(), request.path())
                    : match(request.method(), request.path());
}

router::Match Router::match_as_sent(Method method, std::string_view path) const noexcept {
  router::Match match;
  table_->find_as_sent(method, path, match);
  return match;
}

Task<Response> Router::start(const router::Match& match, Request& request) const {
  http::RequestAccess::bind(request, &match.captures);
  if (match.route != nullptr) router::keep_last_request(*match.route, request.method());
  return router::Chain::run(match, request, 0);
}

std::optional<Response> Router::guard(const router::Match& match, Request& request,
                                      std::size_t& step) const {
  http::RequestAccess::bind(request, &match.captures);
  for (const std::size_t count = router::count_steps(*match.scope); step < count; ++step) {
    const router::Step& next = router::step_at(*match.scope, step);
    if (next.guard.call == nullptr) break;  // a coroutine, which is not run for a refusal
    std::optional<Response> early = next.guard.call(next.guard.object.get(), request);
    if (early || http::RequestAccess::waits_for_content(request)) return early;
  }
  return std::nullopt;
}

Response Router::invoke(const router::Match& match, Request& request) const {
  const bool has_steps = match.scope->parent != nullptr || !match.scope->steps.empty();
  return has_steps ? invoke_all(*this, match, request) : invoke_guarded(match, request);
}

Response Router::invoke_guarded(const router::Match& match, Request& request) const {
  http::RequestAccess::bind(request, &match.captures);
  if (match.route == nullptr) return router::answer_without_route(match, request.method());
  router::keep_last_request(*match.route, request.method());
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

// In: a request. Out: calls of a responder's callbacks. The request owns the responder, so on_close
// is called when the request is over, however it ends.

namespace skua::detail {
namespace {

/// Closes responders with the request: several if middleware ran the rest of its chain twice.
class Attached {
 public:
  Attached() = default;
  Attached(Attached&&) noexcept = default;
  Attached& operator=(Attached&& other) noexcept {
    responders_.swap(other.responders_);
    return *this;
  }
  ~Attached() {
    for (const std::unique_ptr<Responder>& responder : responders_) responder->on_close();
  }
  Responder& keep(std::unique_ptr<Responder> responder) {
    return *responders_.emplace_back(std::move(responder));
  }

 private:
  std::vector<std::unique_ptr<Responder>> responders_;
};

Attached& attached(Request& request) {
  Attached* const found = request.attachments().find<Attached>();
  return found != nullptr ? *found : request.attachments().set(Attached());
}

}  // namespace

Task<Response> respond(std::unique_ptr<Responder> owned, Request& request) {
  if (owned == nullptr) throw std::logic_error("a handler returned a null Responder");
  Responder& responder = attached(request).keep(std::move(owned));
  responder.on_headers(request);
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    responder.on_body(*piece);
  }
  co_return responder.on_request(request);
}

}  // namespace skua::detail
