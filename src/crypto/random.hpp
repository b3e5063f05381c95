// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "skua/error.hpp"

namespace skua::crypto {

/// Returns cryptographically secure random bytes from the operating system, also without OpenSSL.
///
/// Ends with: SystemFailure if the system cannot provide them.
Result<std::string> random_bytes(std::size_t count);

/// Returns 64 random bits for identifiers that are unique but not secret: fast, but predictable
/// once enough of them are known.
std::uint64_t random_word();

}  // namespace skua::crypto
