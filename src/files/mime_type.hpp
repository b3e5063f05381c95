// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace skua::files {

/// The media type of a file by its name (a path will do): `text/html; charset=utf-8` for `a.html`,
/// `application/octet-stream` for what is not known. The view lives as long as the program.
std::string_view mime_type(std::string_view file_name) noexcept;

}  // namespace skua::files
