// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configure.hpp"
#include "serve/options.hpp"
#include "skua/reverse_proxy.hpp"
#include "skua/upstream.hpp"

namespace skua::cli {

/// Options of `skua proxy`.
struct GatewayOptions {
  std::vector<std::string> targets{};  ///< URL, or URL,weight=N
  bool each_address = false;           ///< of the names of all targets
  std::string mirror{};                ///< URL; empty: none
  UpstreamOptions upstream{.name = "targets"};
  ReverseProxyOptions proxy{};
  ServeOptions server{.folder = ""};
};

/// Adds the options, in groups, to the command; `options` must outlive the parser. Parsing checks
/// the targets.
void declare(CLI::App& parser, GatewayOptions& options);

}  // namespace skua::cli
