// SPDX-License-Identifier: MIT
// In: requests. Out: the responses of the current router, with all of its middleware. A request
// keeps its router in its attachments. Threads share nothing while the router stays the same: each
// has a pointer of its own, and finds out by a number that there is another one.
#include "serve/settings/replaceable_router.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "files/cache/per_thread.hpp"
#include "router/table.hpp"
#include "skua/next.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::cli {

class ReplaceableRouter::Current {
 public:
  using Shared = std::shared_ptr<const Router>;

  explicit Current(Router first) : router_(std::make_shared<const Router>(std::move(first))) {}

  void replace(Router next) {
    auto replaced = std::make_shared<const Router>(std::move(next));
    const std::lock_guard lock(mutex_);
    router_.swap(replaced);
    generation_.fetch_add(1, std::memory_order_release);
  }

  // A pointer to a pointer, whose count of owners belongs to this thread.
  std::shared_ptr<const Shared> local() const {
    Local& mine = locals_.local();
    if (mine.generation == generation_.load(std::memory_order_acquire)) return mine.router;
    std::shared_ptr<const Shared> before;  // destroyed after the lock: it may be the last owner
    const std::lock_guard lock(mutex_);
    before = std::exchange(mine.router, std::make_shared<const Shared>(router_));
    mine.generation = generation_.load(std::memory_order_relaxed);
    return mine.router;
  }

 private:
  struct Local {
    std::uint64_t generation = 0;
    std::shared_ptr<const Shared> router{};
  };

  mutable std::mutex mutex_;
  Shared router_;
  std::atomic<std::uint64_t> generation_{1};
  files::PerThread<Local> locals_{[] { return std::make_unique<Local>(); }};
};

namespace {

/// A request's router, and its place in it.
struct Route {
  std::shared_ptr<const std::shared_ptr<const Router>> router{};
  router::Match match{};
};

// Handlers behind the current router see the captures of their own match.
Task<Response> pass(const Route& route, Request& request) {
  return (*route.router)->start(route.match, request);
}

void finish(const Request& request, Response& response) {
  const Route* const route = request.attachments().find<Route>();
  if (route == nullptr) return;  // there was no memory for it
  router::for_each_finisher(*route->match.scope,
                            [&](const detail::Erased<detail::FinisherCall>& finisher) {
                              finisher.call(finisher.object.get(), request, response);
                            });
}

}  // namespace

/// Passes requests to the current router.
class ReplaceableRouter::PassOn {
 public:
  static constexpr bool routes_path = true;

  explicit PassOn(std::shared_ptr<const Current> current) : current_(std::move(current)) {}
  Task<Response> operator()(Request& request, Next) const {
    Route& route = request.attachments().set(Route{.router = current_->local()});
    route.match = (*route.router)->match(request);
    return pass(route, request);
  }

 private:
  std::shared_ptr<const Current> current_;
};

ReplaceableRouter::ReplaceableRouter(Router first)
    : current_(std::make_shared<Current>(std::move(first))) {
  front_.use(PassOn(current_));
  front_.use(&finish);
}

void ReplaceableRouter::replace(Router next) { current_->replace(std::move(next)); }

}  // namespace skua::cli
