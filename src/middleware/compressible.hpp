// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::middleware {

/// Reports whether content of this media type is worth compressing, i.e. mostly text.
bool is_compressible(std::string_view content_type) noexcept;

}  // namespace skua::middleware
