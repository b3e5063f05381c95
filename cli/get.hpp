// SPDX-License-Identifier: MIT
#pragma once

#include "command.hpp"
#include "skua/method.hpp"

namespace skua::cli {

/// The command that makes requests of one method and prints or saves what comes back.
std::function<int()> configure_method(CLI::App& parser, Method method);

/// The same as a row of a table wants it.
template <Method Which>
std::function<int()> configure_request(CLI::App& parser) {
  return configure_method(parser, Which);
}

}  // namespace skua::cli
