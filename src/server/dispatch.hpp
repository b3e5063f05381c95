// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>

#include "router/match.hpp"
#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::server {

/// Runs what a request matched, and makes a response of everything that can come out of it.
///
/// Ends with: std::bad_alloc where there is no memory for the response; nothing else.
Response dispatch(Resources& resources, const router::Match& match, Request& request);

/// The same behind the guards: `early` is the response of the one that answered, if one did, and
/// `failure` what one of them threw.
Response dispatch_guarded(Resources& resources, const router::Match& match, Request& request,
                          std::optional<Response> early, const std::exception_ptr& failure);

/// The same for a coroutine handler that has ended, or (null) could not be started.
Response dispatch_ended(Resources& resources, const router::Match& match, Request& request,
                        Task<Response>* handler, const std::exception_ptr& failure);

/// Whether behind the head of this response another protocol begins.
bool opens_another_protocol(const Response& response) noexcept;

}  // namespace skua::server
