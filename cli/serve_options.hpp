// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"
#include "skua/file_options.hpp"
#include "skua/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace skua::cli {

/// What `skua serve` is told.
struct ServeOptions {
  std::string folder = ".";
  FileOptions files{.listing = true};
  ServerOptions server{.host = "127.0.0.1"};
  std::optional<std::uint16_t> redirect_port{};  ///< where plain HTTP is sent to HTTPS
  std::uint32_t hsts_seconds = 0;                ///< Strict-Transport-Security; 0: not said
  bool access_log = false;
  bool print_config = false;
  bool quiet = false;
};

/// Adds the options, grouped, to the command; `options` outlives the parser.
void declare(CLI::App& parser, ServeOptions& options);

}  // namespace skua::cli
