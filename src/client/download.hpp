// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "client/core.hpp"
#include "client/request_spec.hpp"
#include "skua/client_request.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Implements ClientRequest::download().
Task<Result<Downloaded, Problem>> download(std::shared_ptr<Core> core,
                                           std::unique_ptr<RequestSpec> spec, std::string path,
                                           DownloadOptions options);

}  // namespace skua::client
