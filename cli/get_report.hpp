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
/// With --verbose: the heads of the request, as far as it is known, and of its response.
std::string heads_text(const GetOptions& options, const PreparedRequest& prepared, const Url& url,
                       const ClientResponse& response);
/// With --timing: how long each step took. After the content.
std::string timing_text(const GetOptions& options, const ClientResponse& response);

}  // namespace skua::cli
