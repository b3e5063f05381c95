// SPDX-License-Identifier: MIT
#pragma once

#include "skua/blocking.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Sends a request and returns its response with all of its content.
Task<Result<WholeResponse, Problem>> whole(ClientRequest request);

}  // namespace skua::client
