// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace skua::cli {

/// Reports whether other users may read a regular file, as far as its mode says; false on Windows.
[[nodiscard]] bool is_readable_by_others(const std::string& path) noexcept;

}  // namespace skua::cli
