// SPDX-License-Identifier: MIT
// Only for files of the Windows build.
#pragma once

namespace skua::base {

/// Returns the errno that means the same as a code of GetLastError() or WSAGetLastError(), EIO if
/// there is none. Above the system calls, skua knows only errnos.
int errno_of(unsigned long windows_code) noexcept;

/// Sets errno to the errno_of() the thread's last Windows error, and returns -1.
int fail_as_posix() noexcept;

}  // namespace skua::base
