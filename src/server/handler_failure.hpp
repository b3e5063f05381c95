// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// Counts and logs a handler failure.
void log_failure(Resources& resources, std::string line, std::string_view why);

/// Counts and logs the exception of a task that has no response.
void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept;

/// Returns the replacement for a response that cannot be sent, and logs the reason.
Response failed(Resources& resources, const Request& request, std::string_view why);

/// Returns the response for the exception being handled.
Response caught(Resources& resources, const Request& request);

}  // namespace skua::server
