// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::files {

/// Returns the media type for a file name or path: `text/html; charset=utf-8` for `a.html`,
/// `application/octet-stream` for unknown types. The view has static lifetime.
std::string_view mime_type(std::string_view file_name) noexcept;

/// Reports whether content of this media type is worth compressing, i.e. mostly text.
bool is_compressible(std::string_view content_type) noexcept;

}  // namespace skua::files
