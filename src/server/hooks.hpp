// SPDX-License-Identifier: MIT
#pragma once

#include "skua/options.hpp"

namespace skua::server {

/// Wraps hooks so that they never throw. Their exceptions go to the log hook, whose own exceptions
/// are dropped.
Hooks guarded(Hooks hooks);

}  // namespace skua::server
