// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "skua/error.hpp"
#include "skua/multipart_writer.hpp"

namespace skua::http {

/// Returns the source of a text in memory.
std::unique_ptr<PartSource> make_text_source(std::string text);

/// Returns the source of a regular file. The length is fixed now; the first read opens the file.
///
/// Ends with: NotFound, PermissionDenied; Unsupported if it is not a regular file.
Result<std::unique_ptr<PartSource>> make_file_source(const std::string& path);

}  // namespace skua::http
