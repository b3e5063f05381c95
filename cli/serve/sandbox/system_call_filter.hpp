// SPDX-License-Identifier: MIT
#pragma once

#include "skua/error.hpp"

namespace skua::cli {

/// Ensures that no program that this thread, or a thread or process that it starts, executes gains
/// privileges: set-user-ID bits and file capabilities are ignored. Nor can they give a file
/// capabilities.
///
/// Ends with: Unsupported except on Linux.
Result<void> forbid_new_privileges();

/// The system calls that not every server needs.
struct CallNeeds {
  bool io_uring = false;  ///< for rings that exist already
  bool unlink = false;    ///< removes files
  bool uploads = false;   ///< makes files, and names them once they are on the disk
  bool webdav = false;    ///< also makes folders, and sets extended attributes
  bool logs = false;      ///< makes files of logs
  bool connect = false;   ///< connects stream sockets of its own
  bool wait = false;      ///< learns how processes that it started before have ended
  bool watch = false;     ///< watches files by an inotify instance that exists already
  bool terminal = false;  ///< asks a terminal for its size, and for the foreground process
};

/// Takes from all threads, and from those that they start, every system call that a server with
/// open sockets does not need. Refused calls fail with EPERM; calls that start, inspect or change a
/// process end this one, because only injected code makes them. No file can be made that is
/// set-user-ID or set-group-ID. Needs forbid_new_privileges().
///
/// Ends with: Unsupported on another system or processor; the system's error on an old kernel.
Result<void> restrict_system_calls(const CallNeeds& needs);

}  // namespace skua::cli
