// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "router/tree.hpp"
#include "skua/handler.hpp"
#include "skua/request.hpp"
#include "skua/request_limits.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::router {

/// A guard, or a coroutine around everything that follows: exactly one of the two is set.
struct Step {
  detail::Erased<detail::GuardCall> guard{};
  detail::Erased<detail::AroundCall> around{};
};

/// The reach of one router's middleware: every path below its prefix, whichever router answers it.
struct Scope {
  std::string prefix;             ///< `/admin`; empty for the outermost router
  const Scope* parent = nullptr;  ///< the next one outwards: it contains all paths of this one
  std::vector<Step> steps;        ///< guards and coroutines, in the order they were added
  std::vector<detail::Erased<detail::FinisherCall>> finishers;
  bool has_coroutine = false;  ///< among the steps of this scope and those around it
  RequestLimits own_limits{};
  RequestLimits limits{};  ///< where they are nullopt, those of the scopes around it
};

/// Reports whether a path is the prefix itself, or continues it with a segment.
inline bool is_below(std::string_view path, std::string_view prefix) noexcept {
  return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

/// All registrations of a router and those mounted on it.
class Table {
 public:
  Table();

  void add(MethodSet methods, bool is_any, std::string_view pattern, detail::Handler handler,
           const std::source_location& where);
  void mount(std::string_view prefix, Table other);
  void add_guard(detail::Erased<detail::GuardCall> guard);
  void limit(const RequestLimits& limits) noexcept;
  void add_around(detail::Erased<detail::AroundCall> around);
  /// The router's own scope.
  [[nodiscard]] Scope& scope() noexcept { return *scopes_.front(); }

  void find(Method method, std::string_view path, Match& match) const noexcept;
  /// Like find(), for a path that is not canonical; see Router::match_as_sent().
  void find_as_sent(Method method, std::string_view path, Match& match) const noexcept;

  [[nodiscard]] const std::vector<std::unique_ptr<Route>>& routes() const noexcept {
    return routes_;
  }
  [[nodiscard]] const std::vector<std::unique_ptr<Scope>>& scopes() const noexcept {
    return scopes_;
  }

 private:
  [[nodiscard]] const Scope& scope_of(std::string_view path) const noexcept;
  void nest_scopes() noexcept;
  [[nodiscard]] bool takes_as_sent(const Match& match) const noexcept;
  [[nodiscard]] bool is_alone_below(const Route& route) const noexcept;

  // Routes and scopes must not move: the tree and matches point to them.
  std::vector<std::unique_ptr<Route>> routes_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // the router's own, then from outside inwards
  Tree tree_;
  MethodSet allowed_anywhere_ = 0;
};

/// Answers a request that has no route: 404, 405 or OPTIONS. RFC 9110 §9.3.7, §15.5.5, §15.5.6
Response answer_without_route(const Match& match, Method method);

/// The steps of a scope and of those around it, outermost first.
std::size_t count_steps(const Scope& scope) noexcept;
const Step& step_at(const Scope& scope, std::size_t index) noexcept;

/// Reports whether a scope may have finishers, its own or those of the scopes around it.
inline bool has_finishers(const Scope& scope) noexcept {
  return scope.parent != nullptr || !scope.finishers.empty();
}
/// Calls `visit` with the finishers of a scope and of those around it, innermost first.
template <class F>
void for_each_finisher(const Scope& scope, F&& visit) {
  for (const Scope* at = &scope; at != nullptr; at = at->parent) {
    for (const detail::Erased<detail::FinisherCall>& finisher : at->finishers) visit(finisher);
  }
}

/// Returns the value for an Allow field: `GET, HEAD, OPTIONS`.
std::string allow_text(MethodSet methods);

/// The steps of a match, outermost router first, then its handler.
class Chain {
 public:
  /// Runs the chain from a step on. Match and request outlive the task.
  static Task<Response> run(const Match& match, Request& request, std::size_t step);
};

}  // namespace skua::router
