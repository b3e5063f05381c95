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

/// The target of a request, resolved to a route.
struct Target {
  Errc error;             ///< unless None, the other members are empty
  std::string_view path;  ///< canonical; in Resources::path_scratch if it had to be decoded
  std::string_view query;
  router::Match match;
};

/// Resolves a request target. `path_and_query` is taken from a target in any form, or "*"; `host`
/// is a valid authority or empty.
Target find_target(Resources& resources, const net::Stream& connection, Method method,
                   std::string_view host, std::string_view path_and_query);

}  // namespace skua::server
