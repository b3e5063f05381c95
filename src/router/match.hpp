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

/// What Router::match found.
struct Match {
  const Route* route = nullptr;  ///< null: 404, or 405 where `allowed` is not empty
  const Scope* scope = nullptr;  ///< whose guards and finishers apply; never null
  MethodSet allowed = 0;         ///< what the path would take, where there is no route
  bool has_coroutine = false;    ///< the handler is one, or one is around it
  http::Captures captures;
};

}  // namespace skua::router
