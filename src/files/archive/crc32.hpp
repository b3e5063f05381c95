// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace skua::files {

/// Returns the CRC-32 of a text that continues one with the CRC `before`; 0 if it is the first.
///
/// RFC:       1952 §8
std::uint32_t crc32(std::uint32_t before, std::string_view text) noexcept;

}  // namespace skua::files
