// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::middleware {

/// Whether content of this media type shrinks: text, not what is compressed already.
bool is_compressible(std::string_view content_type) noexcept;

}  // namespace skua::middleware
