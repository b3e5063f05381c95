// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "coding/coding.hpp"
#include "files/cache/file_cache.hpp"
#include "files/file_head.hpp"
#include "skua/response.hpp"

namespace skua::files {

/// How many files are compressed at a time, in the whole process: each holds an encoder of up to a
/// few MiB, and waits for its client.
inline constexpr int compressed_streams_at_most = 16;

/// Returns a response that compresses a large file while it is sent, on other threads, and takes
/// the file; or nullopt if that is not worth it, impossible, or too many do so already.
///
/// If the file turns out shorter than it was, the response ends early, so that the client can tell.
std::optional<Response> compressed_stream(std::string_view path, FoundFile& file,
                                          const FileFields& fields, coding::Coding coding,
                                          WallTime now);

}  // namespace skua::files
