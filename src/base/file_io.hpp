// SPDX-License-Identifier: MIT
// In: a range of a file. Out: memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "skua/error.hpp"

namespace skua::base {

/// Returns how many files and sockets this process may have open at once; the largest number if
/// there is no limit.
std::size_t open_files_limit() noexcept;

/// Returns how many of these may be files: fewer, if the C library has a table of its own for them.
std::size_t disk_files_limit() noexcept;

/// Raises the limit on both as far as permitted (RLIMIT_NOFILE: the soft limit to the hard one).
void raise_open_files_limit() noexcept;

/// Returns how many are open now, or 0 if that is unknown.
std::size_t open_files_count() noexcept;

/// Reads until `into` is full or the file ends. Returns the number of bytes read. May wait for the
/// disk.
[[nodiscard]] Result<std::size_t> read_at(int file, std::uint64_t offset,
                                          std::span<char> into) noexcept;

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
