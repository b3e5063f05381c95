// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>

#include "skua/config.hpp"
#include "skua/task.hpp"

namespace skua {

class Request;
class Response;

namespace router {
struct Match;
class Chain;
}  // namespace router

/// The rest of the chain behind a coroutine middleware: more middleware and, last, the handler.
///
/// Lifetime:  valid as long as the request.
class SKUA_API Next final {
 public:
  /// Runs the rest of the chain. A handler's exceptions pass through.
  Task<Response> operator()(Request& request) const;
  /// Loads the content of the request now, if the handler takes it as a whole: the handler then
  /// begins without a wait for the client. A coroutine handler reads it by itself.
  ///
  /// Waits for: the end of the content.
  /// Ends with: the errors of Request::load().
  Task<> load(Request& request) const;

 private:
  friend class router::Chain;
  Next(const router::Match& match, std::size_t step) noexcept : match_(&match), step_(step) {}
  const router::Match* match_;
  std::size_t step_;
};

}  // namespace skua
