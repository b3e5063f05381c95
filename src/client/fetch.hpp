// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "client/core.hpp"
#include "client/reception.hpp"
#include "client/request_spec.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Sends a request, repeats it as needed (after a dead connection, a challenge or a redirect), and
/// returns the final response once its head has arrived.
///
/// Ends with: the errors of ClientRequest::send().
Task<Result<ReceptionPointer, Problem>> fetch(std::shared_ptr<Core> core,
                                              std::unique_ptr<RequestSpec> spec);

}  // namespace skua::client
