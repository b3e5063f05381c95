// SPDX-License-Identifier: MIT
// In: a path with an encoded slash. Out: the route of a proxy that may pass it on, if no part of
// the program could read it in another way.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

#include "http/uri/target_path.hpp"
#include "router/table.hpp"

namespace skua::router {

// An encoded slash may be read as a part of a segment or as the end of one. Both readings must lead
// to the same route, behind the same guards: the path begins with the route's literal beginning,
// has no dot segments in either reading, and nothing else is registered below.
void Table::find_as_sent(Method method, std::string_view path, Match& match) const noexcept {
  find(method, path, match);
  match.is_malformed = !http::may_stay_as_sent(path) || !takes_as_sent(match);
  if (match.is_malformed) match.route = nullptr;
}

bool Table::takes_as_sent(const Match& match) const noexcept {
  for (std::size_t i = 0; i < count_steps(*match.scope); ++i) {
    const Step& step = step_at(*match.scope, i);
    const bool is_guard = step.guard.call != nullptr;
    const detail::PathUse use = is_guard ? step.guard.path_use : step.around.path_use;
    if (use == detail::PathUse::Routes) return true;  // its router decides
    if (use != detail::PathUse::Ignores) return false;
  }
  const Route* const route = match.route;
  return route != nullptr && route->handler.path_use == detail::PathUse::Passes &&
         is_alone_below(*route);
}

bool Table::is_alone_below(const Route& route) const noexcept {
  const std::string_view pattern = route.pattern;
  const std::string_view literal = pattern.substr(0, pattern.find('{'));  // `/api/`
  if (!pattern.substr(literal.size()).ends_with("...}") || literal.empty()) return false;
  const auto is_below = [&](std::string_view other) {
    return other.starts_with(literal) && other != literal && other != pattern;
  };
  return std::ranges::none_of(routes_,
                              [&](const std::unique_ptr<Route>& other) {
                                return is_below(other->pattern) || is_below(other->alias);
                              }) &&
         std::ranges::none_of(
             scopes_, [&](const std::unique_ptr<Scope>& scope) { return is_below(scope->prefix); });
}

}  // namespace skua::router
