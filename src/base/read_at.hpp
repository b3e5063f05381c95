// SPDX-License-Identifier: MIT
// In: a range of a file. Out: memory. Blocks on the disk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skua/error.hpp"

namespace skua::base {

// Reads until `into` is full or the file ends. Returns the number of bytes read.
[[nodiscard]] Result<std::size_t> read_at(int file, std::uint64_t offset,
                                          std::span<char> into) noexcept;

}  // namespace skua::base
