// SPDX-License-Identifier: MIT
#pragma once

#include "skua/options.hpp"

namespace skua::server {

/// The same hooks, none of which throws: what one throws is told to the log, and what the log
/// throws is dropped.
Hooks guarded(Hooks hooks);

}  // namespace skua::server
