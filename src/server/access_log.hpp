// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "skua/options.hpp"

namespace skua::server {

/// One line of an access log in the combined format, with its line feed.
///
/// `192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.0"`
///
/// Behind the line of a response that was not sent whole stands ` cut`.
///
/// What a peer sent is escaped (`\x1B`, `\"`), so that no request can forge a line or drive a
/// terminal; each field is cut at 2 KiB.
std::string combined_line(const RequestRecord& record, std::chrono::sys_seconds now);

}  // namespace skua::server
