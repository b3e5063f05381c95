// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "files/file_cache.hpp"
#include "http/field.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// The answer to GET or HEAD for a file that was found at `path` of `root`: 200, 206, 304, 412 or
/// 416.
///
/// A small file is answered from memory, a large one as file_body() does. Several ranges
/// are answered as multipart/byteranges when they fit into 256 KiB, otherwise with the whole file.
///
/// RFC:       9110 §13.2.2, §14.2, §15.3.7
Response file_response(const http::Head& request, FoundFile found,
                       const std::shared_ptr<const Root>& root, std::string_view path,
                       std::string_view cache_control, WallTime now);

}  // namespace skua::files
