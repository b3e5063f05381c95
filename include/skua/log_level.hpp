// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstdint>

namespace skua {

/// How important a line for a log is.
enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

}  // namespace skua
