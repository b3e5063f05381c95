// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "serve/options.hpp"

namespace skua::cli {

/// Returns the last port to try if the one of the options is taken: one of the next ten if a person
/// reads the output and has not chosen a port, otherwise the same. A script has to know where the
/// server is, so there it is an error.
std::uint16_t last_port(const ServeOptions& options, bool is_for_person);

}  // namespace skua::cli
