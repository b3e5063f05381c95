// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string_view>

#include "files/cache/file_cache.hpp"
#include "http/message/field.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// Responds to GET or HEAD for a file found at `path` in `root`, or a coded form of it: 200, 206,
/// 304, 412 or 416.
///
/// Files in memory are sent from there, others are open, and sent as file_body() does. Several
/// ranges are sent as multipart/byteranges if they fit into 256 KiB, otherwise the whole file is
/// sent.
///
/// RFC:       9110 §13.2.2, §14.2, §15.3.7
Response file_response(const http::Head& request, FoundFile found,
                       const std::shared_ptr<const Root>& root, std::string_view path,
                       const FileFields& fields, WallTime now);

}  // namespace skua::files
