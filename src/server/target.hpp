// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "router/match.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"

namespace skua::net {
class Stream;
}

namespace skua::server {

struct Resources;

/// What a request asks for, as the routes see it.
struct Target {
  Errc error;             ///< where there is one, the rest is not
  std::string_view path;  ///< canonical; in Resources::path_scratch, if it had to be decoded
  std::string_view query;
  router::Match match;
};

/// `path_and_query` is that of a request target in any of its forms, or "*"; `host` a valid
/// authority or empty.
Target find_target(Resources& resources, const net::Stream& connection, Method method,
                   std::string_view host, std::string_view path_and_query);

}  // namespace skua::server
