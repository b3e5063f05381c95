// SPDX-License-Identifier: MIT
#pragma once

#include "skua/file_options.hpp"
#include "skua/options.hpp"

#include <string>

namespace skua::cli {

/// What `skua serve` would do.
struct ServeConfig {
  const std::string& folder;
  const FileOptions& files;
  const ServerOptions& server;
  const char* backend;
  bool access_log;
};

/// Prints every setting with its value, `name = value` a line, sections in brackets.
void print_config(const ServeConfig& config);

}  // namespace skua::cli
