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
  skua::ServerOptions options;
  skua::Server third(own, options);
  skua::Server fourth(own, std::move(options));
  skua::serve(own, {.port = 0}).value();
#elif CASE == 1
  // case 1: the router outlives the server: make it a variable
  skua::Server server(skua::Router(), {.port = 0});  // the router is destroyed after this line
#elif CASE == 2
  // case 2: the router outlives the server: make it a variable
  skua::Router own;
  skua::Server server(std::move(own));
#elif CASE == 3
  // case 3: a server takes its router by reference
  skua::Server server(&kept);
#elif CASE == 4
  // case 4: the options of a server are in braces
  skua::Server server(kept, 8080);
#elif CASE == 5
  // case 5: the options of a server are in braces
  skua::Server server(kept, "127.0.0.1", 8080);
#elif CASE == 6
  // case 6: the options of a server are in braces
  skua::serve(kept, 8080).value();
#endif
}
