// SPDX-License-Identifier: MIT
#include "serve/launch/ports.hpp"

#include <algorithm>

namespace skua::cli {

std::uint16_t last_port(const ServeOptions& options, bool is_for_person) {
  const ServerOptions& server = options.server;
  const auto chosen = options.fixed.find("--port");
  const bool is_chosen = chosen != options.fixed.end() && !chosen->second.empty();
  const bool has_port = server.listeners.empty() && !server.host.starts_with("unix:");
  if (!is_for_person || is_chosen || !has_port || server.port == 0) return server.port;
  return static_cast<std::uint16_t>(std::min(server.port + 10, 65'535));
}

}  // namespace skua::cli
