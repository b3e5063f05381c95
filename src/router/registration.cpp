// SPDX-License-Identifier: MIT
// In: registrations. Out: routes in one tree, and scopes for the middleware around them. The idea:
// mounting moves the other router's routes into this tree, so that matching never goes from router
// to router; all that remains of a mount is its scope.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "router/table.hpp"
#include "skua/next.hpp"
#include "skua/pattern.hpp"
#include "skua/router.hpp"

namespace skua {
namespace router {
namespace {

std::vector<std::string> wildcard_names(std::string_view pattern) {
  std::vector<std::string> names;
  for (std::size_t open = pattern.find('{'); open != pattern.npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    names.emplace_back(skua::detail::wildcard_name(pattern.substr(open, close - open + 1)));
  }
  return names;
}

constexpr MethodSet all_methods = (1U << method_count) - 1;

// RFC 9110 §9.3.2: HEAD is answered wherever GET is.
constexpr MethodSet with_head(MethodSet methods) noexcept {
  return (methods & bit(Method::Get)) == 0 ? methods : methods | bit(Method::Head);
}

void fill_in(RequestLimits& limits, const RequestLimits& around) noexcept {
  if (!limits.body_bytes) limits.body_bytes = around.body_bytes;
  if (!limits.body_bytes_per_second) limits.body_bytes_per_second = around.body_bytes_per_second;
  if (!limits.body_timeout) limits.body_timeout = around.body_timeout;
  if (!limits.handler_timeout) limits.handler_timeout = around.handler_timeout;
}

}  // namespace

Table::Table() { scopes_.push_back(std::make_unique<Scope>()); }

void Table::add(MethodSet methods, bool is_any, std::string_view pattern, detail::Handler handler,
                const std::source_location& where) {
  auto route = std::make_unique<Route>();
  route->pattern = pattern;
  route->names = wildcard_names(pattern);
  route->handler = std::move(handler);
  route->methods = methods;
  route->is_any = is_any;
  route->where = where;
  route->table = this;
  tree_.add(pattern, *route);
  routes_.push_back(std::move(route));
  allowed_anywhere_ |= is_any ? all_methods : with_head(methods);
}

void Table::add_guard(detail::Erased<detail::GuardCall> guard) {
  scope().steps.push_back({.guard = std::move(guard)});
}

void Table::add_around(detail::Erased<detail::AroundCall> around) {
  scope().steps.push_back({.around = std::move(around)});
  nest_scopes();
}

void Table::mount(std::string_view prefix, Table other) {
  for (std::unique_ptr<Scope>& scope : other.scopes_) {
    scope->prefix.insert(0, prefix);
    const auto behind = std::upper_bound(
        scopes_.begin(), scopes_.end(), scope,
        [](const auto& a, const auto& b) { return a->prefix.size() < b->prefix.size(); });
    scopes_.insert(behind, std::move(scope));
  }
  nest_scopes();
  for (std::unique_ptr<Route>& moved : other.routes_) {
    // The root of a mounted router also answers without the trailing slash, at any depth.
    if (moved->pattern == "/" || !moved->alias.empty()) moved->alias.insert(0, prefix);
    moved->pattern.insert(0, prefix);
    moved->table = this;
    routes_.push_back(std::move(moved));
    const Route& route = *routes_.back();
    tree_.add(route.pattern, route);
    if (!route.alias.empty()) tree_.add(route.alias, route);
  }
  allowed_anywhere_ |= other.allowed_anywhere_;
}

void Table::limit(const RequestLimits& limits) noexcept {
  scope().own_limits = limits;
  nest_scopes();
}

// Prefixes of one path differ only in length, so ordering them by length orders them from outside
// inwards for every path. If two are equal, the one mounted first is outside; a router that is
// mounted on another comes after it.
void Table::nest_scopes() noexcept {
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    Scope& scope = *scopes_[i];
    std::size_t outer = i;
    while (outer != 0 && !is_below(scope.prefix, scopes_[outer - 1]->prefix)) --outer;
    scope.parent = outer == 0 ? nullptr : scopes_[outer - 1].get();
    scope.limits = scope.own_limits;
    if (scope.parent != nullptr) fill_in(scope.limits, scope.parent->limits);
    scope.has_coroutine = (scope.parent != nullptr && scope.parent->has_coroutine) ||
                          std::any_of(scope.steps.begin(), scope.steps.end(),
                                      [](const Step& step) { return step.around.call != nullptr; });
  }
}

std::string allow_text(MethodSet methods) {
  std::string text;
  for (std::size_t i = 0; i < method_count; ++i) {
    const auto method = static_cast<Method>(i);
    if ((methods & bit(method)) == 0) continue;
    if (!text.empty()) text.append(", ");
    text.append(name(method));
  }
  return text;
}

Response answer_without_route(const Match& match, Method method) {
  if (match.is_malformed) return Error(Errc::MalformedTarget);
  if (method == Method::Other) return Error(Errc::UnknownMethod);  // RFC 9110 §9.1
  if (match.allowed == 0) return skua::detail::not_found();
  const std::string allow =
      allow_text(static_cast<MethodSet>(match.allowed | bit(Method::Options)));
  const Status status = method == Method::Options ? Status::NoContent : Status::MethodNotAllowed;
  return Response(status).header("Allow", allow);
}

}  // namespace router

Router::Router() : table_(std::make_unique<router::Table>()) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

void Router::add(unsigned methods, std::string_view pattern, detail::Handler handler, Where where) {
  const bool is_any = methods == any_method;
  table_->add(is_any ? router::MethodSet{} : static_cast<router::MethodSet>(methods), is_any,
              pattern, std::move(handler), where);
}

Router& Router::limits(const RequestLimits& limits) {
  table_->limit(limits);
  return *this;
}

void Router::add_guard(detail::Erased<detail::GuardCall> guard) {
  table_->add_guard(std::move(guard));
}

void Router::add_around(detail::Erased<detail::AroundCall> around) {
  table_->add_around(std::move(around));
}

void Router::add_finisher(detail::Erased<detail::FinisherCall> finisher) {
  table_->scope().finishers.push_back(std::move(finisher));
}

Router& Router::mount(Prefix prefix, Router&& other) {
  table_->mount(prefix.text(), std::move(*other.table_));
  return *this;
}

// In: a match that has coroutines. Out: one task that runs its guards, the coroutines around the
// handler, and the handler. If no coroutine is around the handler, the handler's own task is it.

Task<Response> detail::finished_task(Response response) { co_return response; }

Task<Response> Next::operator()(Request& request) const {
  return router::Chain::run(*match_, request, step_);
}

Task<> Next::load(Request& request) const {
  if (match_->route != nullptr && match_->route->handler.start == nullptr) co_await request.load();
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
    return skua::detail::finished_task(answer_without_route(match, request.method()));
  }
  const detail::Handler& handler = match.route->handler;
  return handler.start != nullptr ? handler.start(handler.object.get(), request)
                                  : load_and_call(handler, request);
}

}  // namespace router
}  // namespace skua
