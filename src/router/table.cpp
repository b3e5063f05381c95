// SPDX-License-Identifier: MIT
// In: a method and a canonical path. Out: the route, and the scope whose middleware is around it. A
// path is in the scope of every mount that it is below, whichever route matches it: nothing that is
// registered elsewhere gets around a mount's guards.
#include "router/table.hpp"

namespace skua::router {

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
