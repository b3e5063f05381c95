// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "get_options.hpp"
#include "request_content.hpp"
#include "skua/client.hpp"

namespace skua::cli {

// What the standard error hears of a request, each as lines with their ends.

/// `skua: ...`
std::string complaint(std::string_view text);
/// A head as --verbose shows it, without credentials; see ClientRequest::set_heads().
std::string shown_head(const GetOptions& options, HeadOf of, std::string_view lines);
/// With --timing: how long each step took. After the content.
std::string timing_text(const GetOptions& options, const ClientResponse& response);

}  // namespace skua::cli
