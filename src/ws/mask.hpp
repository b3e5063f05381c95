// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace skua::ws {

/// Masks or unmasks bytes in place. `offset` is the position of the first byte within the payload.
///
/// RFC:       6455 §5.3
void mask(std::span<char> bytes, const std::array<char, 4>& key, std::size_t offset) noexcept;

}  // namespace skua::ws
