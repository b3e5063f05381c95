// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

#include "skua/bytes.hpp"

namespace skua {

/// All literals that options are written with: `using namespace skua::literals;` brings `16_KiB`,
/// `64_MiB` and `1_GiB`, and those of std::chrono, such as `50ms`, `5s` and `1h`.
inline namespace literals {
using namespace std::chrono_literals;
}  // namespace literals

}  // namespace skua
