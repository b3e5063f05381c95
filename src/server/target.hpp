// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "router/match.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::server {

struct Resources;

/// What a request asks for, as the routes see it.
struct Target {
  Errc error;             ///< where there is one, the rest is not
  std::string_view path;  ///< canonical; in Resources::path_scratch, if it had to be decoded
  std::string_view query;
  router::Match match;
};

/// `path_and_query` is that of a request target in any of its forms, or "*".
Target find_target(Resources& resources, Method method, std::string_view path_and_query) noexcept;

}  // namespace skua::server
