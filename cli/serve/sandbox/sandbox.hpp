// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "serve/options.hpp"
#include "serve/sandbox/landlock.hpp"
#include "serve/sandbox/system_call_filter.hpp"
#include "serve/sandbox/user.hpp"
#include "skua/backend.hpp"

namespace skua::cli {

/// Rights that a server keeps.
struct SandboxNeeds {
  KeptAccess access{};
  CallNeeds calls{};
};

/// Returns what a server with these options needs once it listens: the served folder, the folders
/// of files that are read again (a file that replaces one is only known by its folder), that of the
/// access log, which it opens again, and that of its Unix socket, which it removes in the end, and
/// the ports of the servers of --proxy.
SandboxNeeds needs_of(const ServeOptions& options, BackendChoice backend);

/// Returns the first file or folder, or `a system call`, that is wanted but not among the needs;
/// empty if there is none.
std::string missing_in(const SandboxNeeds& needs, const SandboxNeeds& wanted);

/// Gives up all other rights and becomes the user, if there is one. Must be called before threads
/// are started. What the system lacks is left out. Returns what holds, as a text:
/// `user web, no new privileges, Landlock 7, seccomp`.
///
/// Ends with: the errors of become().
Result<std::string, Problem> enter_sandbox(const SandboxNeeds& needs,
                                           const std::optional<User>& user = {});

}  // namespace skua::cli
