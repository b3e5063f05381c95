// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "router/match.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::router {

/// The steps of a match, outermost router first, then its handler.
class Chain {
 public:
  /// Runs the chain from a step on. Match and request outlive the task.
  static Task<Response> run(const Match& match, Request& request, std::size_t step);
};

}  // namespace skua::router
