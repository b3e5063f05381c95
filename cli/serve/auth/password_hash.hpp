// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::cli {

/// Reports whether this build can check hashed passwords: it was built with libcrypt.
bool has_password_hashes() noexcept;

/// Returns why a hash cannot be used: `is not hashed`; empty if it can.
///
/// Accepted are bcrypt, yescrypt, gost-yescrypt, scrypt, SHA-512-crypt, SHA-256-crypt and Argon2,
/// as far as the system's libcrypt knows them.
std::string hash_flaw(const std::string& hash);

/// Reports whether a password has this hash, which hash_flaw() accepts. Takes as long as its author
/// chose, by design: tens of milliseconds or more. Any thread.
bool has_hash(const std::string& password, const std::string& hash);

}  // namespace skua::cli
