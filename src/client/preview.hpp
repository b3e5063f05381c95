// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "skua/body.hpp"
#include "skua/client_request.hpp"
#include "skua/error.hpp"

namespace skua::client {

/// The first thing that a request would send.
struct RequestPreview {
  std::string head{};  ///< in HTTP/1.1 form, with the empty line
  Body content{};      ///< without a transfer coding
};

/// Returns what a request would send, with cookies and credentials. Nothing is sent, and no name is
/// looked up.
///
/// Ends with: MalformedUrl and the other errors of making a head; file system errors of a form's
///            files.
/// Lifetime:  the client outlives the content.
Result<RequestPreview, Problem> preview(ClientRequest request);

}  // namespace skua::client
