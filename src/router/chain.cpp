// SPDX-License-Identifier: MIT
// In: a match that has coroutines. Out: one task that runs its guards, the coroutines around the
// handler, and the handler. If no coroutine is around the handler, the handler's own task is it.
#include "router/chain.hpp"

#include <optional>
#include <utility>

#include "router/table.hpp"
#include "skua/next.hpp"

namespace skua {

Task<Response> detail::finished_task(Response response) { co_return response; }

Task<Response> Next::operator()(Request& request) const {
  return router::Chain::run(*match_, request, step_);
}

namespace router {
namespace {

Task<Response> load_and_call(const detail::Handler& handler, Request& request) {
  co_await request.load();
  co_return handler.call(handler.object.get(), request);
}

}  // namespace

Task<Response> Chain::run(const Match& match, Request& request, std::size_t step) {
  const std::size_t count = count_steps(*match.scope);
  for (; step < count; ++step) {
    const Step& next = step_at(*match.scope, step);
    if (next.around.call != nullptr) {
      return next.around.call(next.around.object.get(), request, Next(match, step + 1));
    }
    if (std::optional<Response> early = next.guard.call(next.guard.object.get(), request)) {
      return skua::detail::finished_task(*std::move(early));
    }
  }
  if (match.route == nullptr) {
    return skua::detail::finished_task(answer_without_route(match.allowed, request.method()));
  }
  const detail::Handler& handler = match.route->handler;
  return handler.start != nullptr ? handler.start(handler.object.get(), request)
                                  : load_and_call(handler, request);
}

}  // namespace router
}  // namespace skua
