// SPDX-License-Identifier: MIT
#include "file_access.hpp"

namespace skua::cli {

// Access lists decide there, and a profile's default ones admit its user only.
bool is_readable_by_others(const std::string& /*path*/) noexcept { return false; }

}  // namespace skua::cli
