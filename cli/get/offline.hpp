// SPDX-License-Identifier: MIT
#pragma once

#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::cli {

/// Prints what a request would send first, head and content, and sends nothing. Other than on a
/// terminal, the bytes are exact.
///
/// Waits for: standard input, if the request sends that.
/// Ends with: the errors of client::preview() and of reading files. Exceptions of producers.
Task<Result<void, Problem>> print_request(ClientRequest request);

}  // namespace skua::cli
