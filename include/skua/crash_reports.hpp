// SPDX-License-Identifier: MIT
#pragma once

#include "skua/config.hpp"
#include "skua/server.hpp"

namespace skua {

/// Writes a line to standard error, and a list of the calls that led there, if the program dies of
/// SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT; then it dies of the signal, as it would have. The
/// line names the last request whose handler began on that thread: its method and its route's
/// pattern.
///
/// ```
/// skua: SIGSEGV at 0x10; last handled on this thread: GET /users/{id}
/// ```
/// The list needs glibc, macOS or a BSD; it has the names of functions if they are linked with
/// `-rdynamic`. Does nothing on Windows, and under sanitizers, which have reports of their own.
SKUA_API void report_crashes();

/// Lets each of the server's threads report that it has used up its stack, too. Call it once the
/// server has started.
SKUA_API void report_crashes(Server& server);

}  // namespace skua
