// SPDX-License-Identifier: MIT
// In: registrations. Out: routes in one tree, each with the scope whose middleware is around it.
// The idea: mounting moves the other router's routes into our tree, so that matching never goes
// from router to router; what remains of a mount is its scope, which a path that no route matches
// is still below.
#include "router/table.hpp"

#include <utility>

#include "skua/pattern.hpp"

namespace skua::router {
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
  return (methods & bit(Method::Get)) == 0 ? methods
                                           : static_cast<MethodSet>(methods | bit(Method::Head));
}

bool is_below(std::string_view path, std::string_view prefix) noexcept {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace

Table::Table() { scopes_.push_back(std::make_unique<Scope>()); }

void Table::add(MethodSet methods, bool is_any, std::string_view pattern, detail::Handler handler,
                const std::source_location& where) {
  auto route = std::make_unique<Route>();
  route->pattern = pattern;
  route->names = wildcard_names(pattern);
  route->handler = std::move(handler);
  route->scope = scopes_.front().get();
  route->methods = methods;
  route->is_any = is_any;
  route->where = where;
  tree_.add(pattern, *route);
  routes_.push_back(std::move(route));
  allowed_anywhere_ =
      static_cast<MethodSet>(allowed_anywhere_ | (is_any ? all_methods : with_head(methods)));
}

void Table::add_guard(detail::Erased<detail::GuardCall> guard) {
  scope().steps.push_back({.guard = std::move(guard)});
}

void Table::add_around(detail::Erased<detail::AroundCall> around) {
  scope().steps.push_back({.around = std::move(around)});
  for (const std::unique_ptr<Scope>& inner : scopes_) inner->has_coroutine = true;
}

void Table::mount(std::string_view prefix, Table other) {
  for (std::unique_ptr<Scope>& scope : other.scopes_) {
    scope->prefix.insert(0, prefix);
    if (scope->parent == nullptr) scope->parent = scopes_.front().get();
    scope->has_coroutine = scope->has_coroutine || scopes_.front()->has_coroutine;
    scopes_.push_back(std::move(scope));
  }
  for (std::unique_ptr<Route>& moved : other.routes_) {
    // The root of a mounted router also answers without the slash at its end, however deep it is
    // mounted.
    if (moved->pattern == "/" || !moved->alias.empty()) moved->alias.insert(0, prefix);
    moved->pattern.insert(0, prefix);
    routes_.push_back(std::move(moved));
    const Route& route = *routes_.back();
    tree_.add(route.pattern, route);
    if (!route.alias.empty()) tree_.add(route.alias, route);
  }
  allowed_anywhere_ = static_cast<MethodSet>(allowed_anywhere_ | other.allowed_anywhere_);
}

void Table::find(Method method, std::string_view path, Match& match) const noexcept {
  tree_.find(method, path, match);
  if (match.route != nullptr) {
    match.scope = match.route->scope;
    match.has_coroutine = match.scope->has_coroutine || match.route->handler.start != nullptr;
    return;
  }
  match.scope = &scope_of(path);
  match.has_coroutine = match.scope->has_coroutine;
  // RFC 9110 §9.3.7: an asterisk asks about the server as a whole.
  if (path == "*" && method == Method::Options) {
    match.allowed = static_cast<MethodSet>(allowed_anywhere_ | bit(Method::Options));
  }
}

const Scope& Table::scope_of(std::string_view path) const noexcept {
  const Scope* best = scopes_.front().get();
  for (const std::unique_ptr<Scope>& scope : scopes_) {
    // A later one of the same size is an inner one: both are around the path.
    if (scope->prefix.size() >= best->prefix.size() && is_below(path, scope->prefix))
      best = scope.get();
  }
  return *best;
}

Response answer_without_route(MethodSet allowed, Method method) {
  if (allowed == 0) return skua::detail::not_found();
  const std::string allow = allow_text(static_cast<MethodSet>(allowed | bit(Method::Options)));
  const Status status = method == Method::Options ? Status::NoContent : Status::MethodNotAllowed;
  return Response(status).header("Allow", allow);
}

std::optional<Response> run_guards(const Scope& scope, Request& request) {
  if (scope.parent != nullptr) {
    if (std::optional<Response> early = run_guards(*scope.parent, request)) return early;
  }
  for (const Step& step : scope.steps) {
    if (std::optional<Response> early = step.guard.call(step.guard.object.get(), request))
      return early;
  }
  return std::nullopt;
}

void run_finishers(const Scope& scope, const Request& request, Response& response) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const detail::Erased<detail::FinisherCall>& finisher : at->finishers) {
      finisher.call(finisher.object.get(), request, response);
    }
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

}  // namespace skua::router
