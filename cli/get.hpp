// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"
#include "skua/method.hpp"

namespace skua::cli {

/// The command that makes requests of one method and prints or saves what comes back.
std::function<int()> configure_method(CLI::App& parser, Method method);

/// The command whose first word is the method.
std::function<int()> configure_any_method(CLI::App& parser);

/// configure_method() with the signature of a Configure.
template <Method Which>
std::function<int()> configure_request(CLI::App& parser) {
  return configure_method(parser, Which);
}

}  // namespace skua::cli
