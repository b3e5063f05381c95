// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

#include "configure.hpp"
#include "serve/options.hpp"
#include "serve/site/site.hpp"
#include "skua/error.hpp"
#include "skua/health.hpp"
#include "skua/metrics.hpp"
#include "skua/options.hpp"

namespace skua::cli {

/// Configures `skua serve [DIR]`, which serves a folder until a signal stops it.
std::function<int()> configure_serve(CLI::App& parser);

/// The router of a server, and its description.
struct ServerContent {
  /// Makes the router, before threads are started and rights are given up.
  std::function<Result<ServedSite, Problem>(SiteMemory)> make{};
  std::string text{};  ///< for people: `serving www`
  /// Adds metrics of its own, of a router with this memory.
  std::function<void(Metrics&, const SiteMemory&)> measure{};
  /// Adds checks of its own; empty: it has none.
  std::function<void(Health&)> check{};
  bool is_reloadable = false;  ///< by Reloader
};

/// Runs a server until a signal stops it; returns the exit code. The options must outlive it.
int run_server(ServeOptions& options, const ServerContent& content);

/// Prints why the server cannot start, with advice, on stderr; returns the exit code. `port_option`
/// is the option that sets its port.
int report_start(const ServerOptions& options, const Problem& problem,
                 const std::string& port_option = "--port");

}  // namespace skua::cli
