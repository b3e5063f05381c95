// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "client/core.hpp"
#include "client/request_spec.hpp"
#include "client/wire/incoming_response.hpp"
#include "skua/client_request.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Implements ClientRequest::download().
Task<Result<Downloaded, Problem>> download(std::shared_ptr<Core> core,
                                           std::unique_ptr<RequestSpec> spec, std::string path,
                                           DownloadOptions options);

/// Passes the rest of the content to `write`, in large pieces, on another thread. Returns its size
/// in bytes.
///
/// Waits for: the content, and the calls.
/// Ends with: the errors of IncomingResponse::read(); those of `write`, as a problem with `path`.
Task<Result<std::uint64_t, Problem>> write_content(
    IncomingResponse& incoming, std::string path,
    std::function<Result<void>(const std::string&)> write);

/// Implements ClientResponse::save().
Task<Result<std::uint64_t, Problem>> save(IncomingResponse& incoming, std::string path);

}  // namespace skua::client
