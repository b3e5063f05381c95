// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "exit_code.hpp"

// CLI11 takes 15 seconds to compile: only the files that declare options include it.
namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace skua::cli {

/// Declares a command's options on its parser; returns the function to run after parsing.
using Configure = std::function<int()>(CLI::App& parser);

}  // namespace skua::cli
