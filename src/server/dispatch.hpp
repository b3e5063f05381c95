// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "router/table.hpp"
#include "router/tree.hpp"
#include "server/resources.hpp"
#include "skua/options.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua::server {

/// Runs the matched handler, and turns its result or exception into a response.
///
/// Ends with: std::bad_alloc if there is no memory for the response; nothing else.
Response dispatch(Resources& resources, const router::Match& match, Request& request);

/// Like dispatch(), but after the guards have run. `early` is the response of the guard that
/// answered, if any; `failure` is the exception that a guard threw, if any.
Response dispatch_guarded(Resources& resources, const router::Match& match, Request& request,
                          std::optional<Response> early, const std::exception_ptr& failure);

/// Like dispatch(), but for a coroutine handler that has ended; null if its start threw `failure`.
Response dispatch_finished(Resources& resources, const router::Match& match, Request& request,
                           Task<Response>* handler, const std::exception_ptr& failure);

/// Returns the response for a request that matched a route but is refused by the server, amended by
/// the finishers.
SKUA_COLD Response dispatch_refused(Resources& resources, const router::Match& match,
                                    const Request& request, Errc code);

/// Returns how much content a request to this route may have.
inline std::uint64_t max_content_bytes(const Limits& limits, const router::Match& match) noexcept {
  const std::optional<std::size_t>& own = match.scope->limits.body_bytes;
  if (own) return *own;
  return match.has_coroutine ? limits.streamed_body_bytes : limits.body_bytes;
}

/// Reports whether another protocol begins after the head of this response.
bool opens_another_protocol(const Response& response) noexcept;

/// Counts and logs a handler failure.
void log_failure(Resources& resources, std::string line, std::string_view why);

/// Counts and logs the exception of a task that has no response.
void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept;

/// Logs the cause of a response that is made of an Error, if it is a fault of ours.
void log_cause(Resources& resources, const Request& request, Response& response);

/// Returns the replacement for a response that cannot be sent, and logs the reason.
Response failed(Resources& resources, const Request& request, std::string_view why);

/// Returns the response for the exception being handled.
Response caught(Resources& resources, const Request& request);

}  // namespace skua::server
