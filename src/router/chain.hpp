// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "router/match.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::router {

/// The steps of a match, outermost router first, and its handler behind them.
class Chain {
 public:
  /// Runs them from a step on. Match and request outlive the task.
  static Task<Response> run(const Match& match, Request& request, std::size_t step);
};

}  // namespace skua::router
