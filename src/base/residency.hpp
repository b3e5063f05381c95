// SPDX-License-Identifier: MIT
// In: a range of a file. Out: whether its bytes are in memory, so that reading it does not wait for
// a disk or a network.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skua/error.hpp"

namespace skua::base {

/// Like read_at(), but never waits for the disk.
///
/// Ends with: WouldBlock if a part is not in memory; Unsupported if this system or file system
///            cannot tell (Linux can, on most local file systems).
[[nodiscard]] Result<std::size_t> read_resident(int file, std::uint64_t offset,
                                                std::span<char> into) noexcept;

/// Asks the system to start reading a range into its memory. May wait for the disk.
void start_reading(int file, std::uint64_t offset, std::uint64_t size_bytes) noexcept;

/// Opens a second descriptor of an open file, to be closed by the caller; -1 if there is none left.
[[nodiscard]] int duplicate_file(int file) noexcept;

}  // namespace skua::base
