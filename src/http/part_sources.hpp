// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "skua/error.hpp"
#include "skua/multipart_writer.hpp"

namespace skua::http {

/// A part that is a text in memory.
std::unique_ptr<PartSource> make_text_source(std::string text);

/// A part that is a regular file. It is opened by the first read; its length is what it has now.
///
/// Ends with: NotFound, PermissionDenied; Unsupported for what is no regular file.
Result<std::unique_ptr<PartSource>> make_file_source(const std::string& path);

}  // namespace skua::http
