// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "get_options.hpp"
#include "request_content.hpp"
#include "skua/client.hpp"

namespace skua::cli {

// Texts for standard error; every line ends with a line feed.

/// Formats an error or warning: `skua: ...`.
std::string complaint(std::string_view text);
/// Formats a head for --verbose, with credentials hidden; see ClientRequest::set_heads().
std::string shown_head(const GetOptions& options, HeadOf of, std::string_view lines);
/// Returns the --timing report, empty without --timing. Call it after reading the content.
std::string timing_text(const GetOptions& options, const ClientResponse& response);

}  // namespace skua::cli
