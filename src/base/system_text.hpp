// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::base {

/// Returns the operating system's text for an errno, without a line end.
std::string system_text(int code);

#if defined(_WIN32)
/// Returns the errno that means the same as a code of GetLastError() or WSAGetLastError(), EIO if
/// there is none. Above the system calls, skua knows only errnos.
int errno_of(unsigned long windows_code) noexcept;

/// Sets errno to the errno_of() the thread's last Windows error, and returns -1.
int fail_as_posix() noexcept;
#endif

}  // namespace skua::base
