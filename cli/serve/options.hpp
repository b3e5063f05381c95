// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"
#include "skua/file_options.hpp"
#include "skua/options.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skua::cli {

/// Options of `skua serve`.
struct ServeOptions {
  std::string folder = ".";
  FileOptions files{.listing = true};
  ServerOptions server{.host = "127.0.0.1"};
  std::optional<std::uint16_t> redirect_port{};  ///< redirects plain HTTP to HTTPS
  std::uint32_t hsts_seconds = 0;                ///< Strict-Transport-Security; 0: not sent
  std::vector<std::string> allow{};              ///< networks, or @FILE with a list of them
  std::vector<std::string> deny{};               ///< likewise
  std::string user{};   ///< NAME[:GROUP] to become once the server listens; empty: stay
  bool sandbox = true;  ///< gives up what the server does not need, see enter_sandbox()
  bool access_log = false;
  bool print_config = false;
  bool quiet = false;
};

/// Adds the options, in groups, to the command; `options` must outlive the parser.
void declare(CLI::App& parser, ServeOptions& options);

}  // namespace skua::cli
