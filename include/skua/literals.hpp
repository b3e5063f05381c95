// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "skua/bytes.hpp"

namespace skua {

/// Literals for options: `using namespace skua::literals;` makes `16_KiB`, `64_MiB` and `1_GiB`
/// available, and those of std::chrono, such as `50ms`, `5s` and `1h`.
inline namespace literals {
using namespace std::chrono_literals;
}  // namespace literals

}  // namespace skua
