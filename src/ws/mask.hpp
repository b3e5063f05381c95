// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace skua::ws {

/// Masks bytes where they lie; doing it twice undoes it. `offset`: how many bytes of the payload
/// come before these.
///
/// RFC:       6455 §5.3
void mask(std::span<char> bytes, const std::array<char, 4>& key, std::size_t offset) noexcept;

}  // namespace skua::ws
