// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "client/partial_content.hpp"
#include "client/resumable_file.hpp"
#include "skua/client.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// Returns the origin of a response's content: its URL, validator and size.
client::PartOrigin origin_of(const Url& url, const ClientResponse& response);

/// Decides how to treat the response to a request for the rest of `file`, or for the whole.
client::Verdict judge(const ClientResponse& response, const client::ResumableFile& file,
                      bool asked_for_rest);

/// Returns the total size in Content-Range; nullopt if unknown.
std::optional<std::uint64_t> total_told(const ClientResponse& response);

/// Returns the file name in Content-Disposition, made safe; empty if there is none.
std::string name_told(const ClientResponse& response);
/// Returns the last segment of a URL's path, made safe as a file name; `index.html` if empty.
std::string name_in(const Url& url);

}  // namespace skua::cli
