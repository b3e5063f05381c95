// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <memory>

#include "skua/config.hpp"
#include "skua/health.hpp"
#include "skua/metrics.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"

namespace skua {

/// The sources of admin_routes().
struct AdminOptions {
  std::shared_ptr<Metrics> metrics{};      ///< null: no `/metrics`, and a shorter page
  std::shared_ptr<const Health> health{};  ///< null: always ready
};

/// Returns routes for operators and their tools. Serve them on an address that only those reach,
/// such as a port of the loopback interface or a Unix socket: see admin_server_options().
///
/// | path | |
/// |---|---|
/// | `/livez` | 200 as long as the program answers |
/// | `/readyz` | 200 if all of `health` passes, else 503; a line for each check |
/// | `/metrics` | for Prometheus and the like |
/// | `/` | a page for people: routes, recent errors, connections |
[[nodiscard]] SKUA_API Router admin_routes(const AdminOptions& options);

/// Returns the options of a server for admin_routes(): one thread, with short timeouts and small
/// limits, on a port of the loopback interface. Set `host`, or `port`, to change where it listens.
[[nodiscard]] SKUA_API ServerOptions admin_server_options(std::uint16_t port);

}  // namespace skua
