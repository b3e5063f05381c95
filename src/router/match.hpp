// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "http/captures.hpp"
#include "skua/method.hpp"

namespace skua::router {

struct Route;
struct Scope;

/// A set of methods: bit n is Method(n).
using MethodSet = std::uint16_t;
constexpr MethodSet bit(Method method) noexcept {
  return static_cast<MethodSet>(1U << static_cast<unsigned>(method));
}

/// The result of Router::match.
struct Match {
  const Route* route = nullptr;  ///< null: 404, or 405 if `allowed` is not empty
  const Scope* scope = nullptr;  ///< the scope of the path; never null
  MethodSet allowed = 0;         ///< the methods of the path, if there is no route
  bool has_coroutine = false;    ///< the handler is a coroutine, or one is around it
  http::Captures captures;
};

}  // namespace skua::router
