// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::server {

/// Counts a failure of a handler and logs a line of it.
void log_failure(Resources& resources, std::string line, std::string_view why);

/// Logs what a task without a response threw.
void log_task_failure(Resources& resources, const char* what,
                      const std::exception_ptr& failure) noexcept;

/// What stands for a response that cannot be sent; logs why.
Response failed(Resources& resources, const Request& request, std::string_view why);

/// What stands for the exception that is being handled.
Response caught(Resources& resources, const Request& request);

}  // namespace skua::server
