// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "skua/error.hpp"

namespace skua::cli {

/// A user that the process can become, with one group.
struct User {
  std::string name;
  unsigned id = 0;
  unsigned group = 0;
};

/// Finds `NAME[:GROUP]`, names or numbers, on this system. Without GROUP, the user's own is taken.
///
/// Ends with: NotFound; Unsupported on Windows. The text names --user.
Result<User, Problem> find_user(const std::string& text);

/// Becomes the user for good, without other groups. Needs root, unless nothing changes.
///
/// Ends with: PermissionDenied, also if the process could still return to root.
Result<void, Problem> become(const User& user);

}  // namespace skua::cli
