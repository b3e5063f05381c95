// SPDX-License-Identifier: MIT
#pragma once

#include "skua/error.hpp"

namespace skua::cli {

/// Ensures that no program that this thread, or a thread or process that it starts, executes gains
/// privileges: set-user-ID bits and file capabilities are ignored.
///
/// Ends with: Unsupported except on Linux.
Result<void> forbid_new_privileges();

/// The system calls that not every server needs.
struct CallNeeds {
  bool io_uring = false;  ///< for rings that exist already
  bool unlink = false;    ///< removes files
  bool uploads = false;   ///< makes files, and names them once they are on the disk
  bool connect = false;   ///< connects stream sockets of its own
  bool terminal = false;  ///< asks a terminal for its size, and for the foreground process
};

/// Takes from all threads, and from those that they start, every system call that a server with
/// open sockets does not need. Refused calls fail with EPERM; calls that start, inspect or change a
/// process end this one, because only injected code makes them. Needs forbid_new_privileges().
///
/// Ends with: Unsupported on another system or processor; the system's error on an old kernel.
Result<void> restrict_system_calls(const CallNeeds& needs);

}  // namespace skua::cli
