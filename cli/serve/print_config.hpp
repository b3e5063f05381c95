// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "serve/options.hpp"

namespace skua::cli {

/// Prints `settings`, the options of `skua serve` as TOML, and as comments every limit and timeout.
void print_config(const std::string& settings, const ServeOptions& options);

}  // namespace skua::cli
