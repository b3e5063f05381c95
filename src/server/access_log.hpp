// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <string>

#include "skua/options.hpp"

namespace skua::server {

/// Formats one access log line in the combined format, including the line feed.
///
/// `192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8.0"`
///
/// The line ends with ` cut` if the response was not sent completely.
///
/// Peer input is escaped (`\x1B`, `\"`), so that no request can forge a line or inject terminal
/// control sequences. Each field is truncated to 2 KiB.
std::string combined_line(const RequestRecord& record, std::chrono::sys_seconds now);

}  // namespace skua::server
