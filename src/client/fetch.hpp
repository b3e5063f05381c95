// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "client/core.hpp"
#include "client/reception.hpp"
#include "client/request_spec.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::client {

/// Sends a request and what follows from it (a connection that has died, a challenge, redirects),
/// up to the head of the response that is the answer.
///
/// Ends with: as ClientRequest::send().
Task<Result<ReceptionPointer, Problem>> fetch(std::shared_ptr<Core> core,
                                              std::unique_ptr<RequestSpec> spec);

}  // namespace skua::client
