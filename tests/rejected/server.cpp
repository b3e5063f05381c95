// SPDX-License-Identifier: MIT
// Servers that must not compile; see routes.cpp.
#include <utility>

#include "skua/server.hpp"

void lives([[maybe_unused]] const skua::Router& kept);

void lives([[maybe_unused]] const skua::Router& kept) {
#if CASE == 0
  // case 0: compiles
  skua::Server server(kept, {.port = 0});
  skua::Router own;
  skua::Server other(own);
#elif CASE == 1
  // case 1: deleted (function|constructor).*Server
  skua::Server server(skua::Router(), {.port = 0});  // the router is destroyed after this line
#elif CASE == 2
  // case 2: deleted (function|constructor).*Server
  skua::Router own;
  skua::Server server(std::move(own));
#endif
}
