// SPDX-License-Identifier: MIT
#pragma once

#include "configure.hpp"
#include "skua/method.hpp"

namespace skua::cli {

struct GetOptions;

/// Sends the requests of a command line that was checked; returns the exit code.
int send_requests(GetOptions& options);

/// Configures a command that sends requests with one method and prints or saves the responses.
std::function<int()> configure_method(CLI::App& parser, Method method);

/// Configures a command whose first argument is the method.
std::function<int()> configure_any_method(CLI::App& parser);

/// `configure_method()` with the signature of `Configure`.
template <Method Which>
std::function<int()> configure_request(CLI::App& parser) {
  return configure_method(parser, Which);
}

}  // namespace skua::cli
