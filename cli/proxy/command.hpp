// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "configure.hpp"

namespace skua::cli {

/// Configures `skua proxy TARGET...`, which passes requests on until a signal stops it.
std::function<int()> configure_proxy(CLI::App& parser);

}  // namespace skua::cli
