// SPDX-License-Identifier: MIT
// Only for files of the Windows build: text is UTF-8 everywhere but in calls of the system.
#pragma once

#include <string>
#include <string_view>

namespace skua::base {

/// Converts UTF-8 to the UTF-16 of Windows calls; malformed sequences become U+FFFD, which no file
/// name that was made with valid text contains.
std::wstring widen(std::string_view text);

/// Converts UTF-16 to UTF-8; unpaired surrogates become U+FFFD.
std::string narrow(std::wstring_view text);

}  // namespace skua::base
