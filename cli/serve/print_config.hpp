// SPDX-License-Identifier: MIT
#pragma once

#include "serve/options.hpp"

namespace skua::cli {

/// Prints every setting of `skua serve` as a `name = value` line, in sections named in brackets.
void print_config(const ServeOptions& options);

}  // namespace skua::cli
