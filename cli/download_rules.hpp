// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "client/partial_content.hpp"
#include "client/resumable_file.hpp"
#include "skua/client.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// The origin of what a response has.
client::PartOrigin origin_of(const Url& url, const ClientResponse& response);

/// What to do with a response to a request for the rest of a part, or for the whole.
client::Verdict judge(const ClientResponse& response, const client::ResumableFile& file,
                      bool asked_for_rest);

/// How large the whole is that a response has a part of, where it says so.
std::optional<std::uint64_t> total_told(const ClientResponse& response);

/// The name that a response has by Content-Disposition, as a file may be called; empty for none.
std::string name_told(const ClientResponse& response);
/// The name that the last segment of a URL gives; `index.html` where there is none.
std::string name_in(const Url& url);

}  // namespace skua::cli
