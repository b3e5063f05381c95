// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "skua/error.hpp"

namespace skua::crypto {

/// Returns cryptographically secure random bytes from the operating system, also without OpenSSL.
///
/// Ends with: SystemFailure if the system cannot provide them.
Result<std::string> random_bytes(std::size_t count);

/// Fills a few bytes likewise, from a buffer of the thread: for identifiers, tokens and masks. A
/// child of fork() draws bytes of its own.
///
/// Ends with: Exception (SystemFailure) if the system cannot provide them.
void draw(std::span<std::byte> bytes);

/// Returns 64 random bits that nobody can predict; see draw().
std::uint64_t random_word();

/// Returns the hexadecimal digits of `count_bytes` bytes that nobody can predict: for names, nonces
/// and identifiers. Sixteen bytes are enough for those that must be unique.
///
/// Ends with: SystemFailure if the system cannot provide them.
Result<std::string> random_token(std::size_t count_bytes = 16);

}  // namespace skua::crypto
