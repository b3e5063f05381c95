// SPDX-License-Identifier: MIT
// In: registrations. Out: routes in one tree, each with the scope whose middleware is around it.
// The idea: mounting moves the other router's routes into our tree, so that matching never goes
// from router to router; what remains of a mount is its scope. A path is in the scope of every
// mount that it is below, whichever route matches it: nothing that is registered elsewhere gets
// around a mount's guards.
#include "router/table.hpp"

#include <algorithm>
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
  match.scope = scopes_.size() == 1 ? scopes_.front().get() : &scope_of(path);
  match.has_coroutine = match.scope->has_coroutine;
  if (match.route != nullptr) {
    match.has_coroutine = match.has_coroutine || match.route->handler.start != nullptr;
    return;
  }
  // RFC 9110 §9.3.7: an asterisk asks about the server as a whole.
  if (path == "*" && method == Method::Options) {
    match.allowed = static_cast<MethodSet>(allowed_anywhere_ | bit(Method::Options));
  }
}

const Scope& Table::scope_of(std::string_view path) const noexcept {
  std::size_t i = scopes_.size() - 1;
  while (i != 0 && !is_below(path, scopes_[i]->prefix)) --i;
  return *scopes_[i];
}

// Prefixes around one path differ in their length alone, so that the order of lengths is one from
// outside inwards for every path. Of two that are the same, the one that was mounted first is
// outside; a router that is mounted on another comes after it.
void Table::nest_scopes() noexcept {
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    Scope& scope = *scopes_[i];
    std::size_t outer = i;
    while (outer != 0 && !is_below(scope.prefix, scopes_[outer - 1]->prefix)) --outer;
    scope.parent = outer == 0 ? nullptr : scopes_[outer - 1].get();
    scope.has_coroutine = (scope.parent != nullptr && scope.parent->has_coroutine) ||
                          std::any_of(scope.steps.begin(), scope.steps.end(),
                                      [](const Step& step) { return step.around.call != nullptr; });
  }
}

Response answer_without_route(MethodSet allowed, Method method) {
  if (allowed == 0) return skua::detail::not_found();
  const std::string allow = allow_text(static_cast<MethodSet>(allowed | bit(Method::Options)));
  const Status status = method == Method::Options ? Status::NoContent : Status::MethodNotAllowed;
  return Response(status).header("Allow", allow);
}

std::size_t count_steps(const Scope& scope) noexcept {
  std::size_t count = 0;
  for (const Scope* at = &scope; at != nullptr; at = at->parent) count += at->steps.size();
  return count;
}

const Step& step_at(const Scope& scope, std::size_t index) noexcept {
  const std::size_t before = scope.parent == nullptr ? 0 : count_steps(*scope.parent);
  return index >= before ? scope.steps[index - before] : step_at(*scope.parent, index);
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
