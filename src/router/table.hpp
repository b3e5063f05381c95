// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "router/match.hpp"
#include "router/tree.hpp"
#include "skua/handler.hpp"

namespace skua::router {

/// A guard, or a coroutine that is around all that follows: one of the two has a call.
struct Step {
  detail::Erased<detail::GuardCall> guard{};
  detail::Erased<detail::AroundCall> around{};
};

/// What one router's middleware is around: all that lies below a prefix.
struct Scope {
  std::string prefix;             ///< `/admin`; empty for the outermost router
  const Scope* parent = nullptr;  ///< of the router that it is mounted on
  std::vector<Step> steps;        ///< guards and coroutines, in the order of their adding
  std::vector<detail::Erased<detail::FinisherCall>> finishers;
  bool has_coroutine = false;  ///< among the steps, also those of the scopes around this one
};

/// Everything that was registered with a router and those mounted on it.
class Table {
 public:
  Table();

  void add(MethodSet methods, bool is_any, std::string_view pattern, detail::Handler handler,
           const std::source_location& where);
  void mount(std::string_view prefix, Table other);
  void add_guard(detail::Erased<detail::GuardCall> guard);
  void add_around(detail::Erased<detail::AroundCall> around);
  /// The router's own scope.
  [[nodiscard]] Scope& scope() noexcept { return *scopes_.front(); }

  void find(Method method, std::string_view path, Match& match) const noexcept;

 private:
  [[nodiscard]] const Scope& scope_of(std::string_view path) const noexcept;

  // Routes and scopes do not move: the tree and the matches point to them.
  std::vector<std::unique_ptr<Route>> routes_;
  std::vector<std::unique_ptr<Scope>> scopes_;  // the first is the router's own
  Tree tree_;
  MethodSet allowed_anywhere_ = 0;
};

/// Where a request ends that no route takes. RFC 9110 §9.3.7, §15.5.5, §15.5.6
Response answer_without_route(MethodSet allowed, Method method);

/// The first answer of the guards of a scope and those around it, outermost first.
std::optional<Response> run_guards(const Scope& scope, Request& request);

/// The finishers of a scope and those around it, innermost first.
void run_finishers(const Scope& scope, const Request& request, Response& response);

/// `GET, HEAD, OPTIONS`.
std::string allow_text(MethodSet methods);

}  // namespace skua::router
