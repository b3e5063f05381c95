// SPDX-License-Identifier: MIT
#pragma once

#include "skua/blocking.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// A request's response and all of its content.
Task<Result<WholeResponse, Problem>> whole(ClientRequest request);

}  // namespace skua::client
