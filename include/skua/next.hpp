// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

#include "skua/task.hpp"

namespace skua {

class Request;
class Response;

namespace router {
struct Match;
class Chain;
}  // namespace router

/// What a coroutine middleware is around: the middleware behind it and, last, the handler.
///
/// Lifetime:  as long as the request.
class Next final {
 public:
  /// Goes on with the request. Exceptions of a handler pass through.
  Task<Response> operator()(Request& request) const;

 private:
  friend class router::Chain;
  Next(const router::Match& match, std::size_t step) noexcept : match_(&match), step_(step) {}
  const router::Match* match_;
  std::size_t step_;
};

}  // namespace skua
