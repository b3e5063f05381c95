// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "skua/error.hpp"

namespace skua::crypto {

/// Returns cryptographically secure random bytes from the operating system, also without OpenSSL.
///
/// Ends with: SystemFailure if the system cannot provide them.
Result<std::string> random_bytes(std::size_t count);

}  // namespace skua::crypto
