// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>

namespace skua::client {

/// Returns the current time in whole seconds, for cookies and HTTP dates.
inline std::chrono::sys_seconds wall_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace skua::client
