// SPDX-License-Identifier: MIT
// Only for files of the Windows build.
#pragma once

#include <windows.h>

#include <cstdint>
#include <string>

namespace skua::disk {

/// Opens a file or a directory like open().
int open_wide(const std::wstring& path, int flags) noexcept;

/// Returns the path of what is open, with all links, short names and letter cases resolved:
/// `\\?\C:\folder\name`. Returns an empty text if it has none.
std::wstring final_path(int file);

/// Whether a directory entry stands for another path: a symbolic link or a junction.
bool is_link(const WIN32_FIND_DATAW& entry) noexcept;

/// Returns nanoseconds since 1970.
std::int64_t nanoseconds(const FILETIME& time) noexcept;

}  // namespace skua::disk
