// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include "skua/error.hpp"

namespace skua::crypto {

/// Bytes that nobody can guess, from the operating system. It needs no library.
///
/// Ends with: SystemFailure where the system has none to give.
Result<std::string> random_bytes(std::size_t count);

}  // namespace skua::crypto
