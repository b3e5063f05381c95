// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "serve/auth/password_file.hpp"
#include "serve/options.hpp"
#include "skua/error.hpp"
#include "skua/router.hpp"

namespace skua::cli {

/// A file of --auth; null if there is none.
using Passwords = std::shared_ptr<const PasswordFile>;

/// Lets only those in who know a login of SKUA_AUTH or of the file of --auth, if there are any.
/// With SKUA_UPLOAD_AUTH, uploads need its login instead.
/// Returns that file, which takes over what the one before it has verified.
///
/// Ends with: a text that names --auth, if the file cannot be read or parsed, or is served.
Result<Passwords, Problem> require_login(Router& router, const ServeOptions& options,
                                         const Passwords& before);

}  // namespace skua::cli
