// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "loop/backend.hpp"

namespace skua::loop {

/// Creates the back end for all POSIX systems: linear in the number of descriptors.
/// Ends with: TooManyOpenFiles and the like.
Result<std::unique_ptr<Backend>> make_poll_backend();

}  // namespace skua::loop
