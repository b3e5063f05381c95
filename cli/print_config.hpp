// SPDX-License-Identifier: MIT
#pragma once

#include "serve_options.hpp"

namespace skua::cli {

/// Prints every setting of `skua serve` with its value, `name = value` a line, sections in
/// brackets.
void print_config(const ServeOptions& options);

}  // namespace skua::cli
