// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "net/stream.hpp"
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

/// `host` is the authority that the request names; `path_and_query` is that of its target in any
/// form, or "*".
Target find_target(Resources& resources, const net::Stream& stream, Method method,
                   std::string_view host, std::string_view path_and_query) noexcept;

}  // namespace skua::server
