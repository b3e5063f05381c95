// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Error;
}  // namespace CLI

namespace skua::cli {

/// Which of the known words a misspelt one was meant to be: the one with the fewest letters that
/// are wrong, missing, too many, or swapped with the next. Empty where more than a third are.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// What to print about a command line that cannot be parsed: what is wrong with it, what a misspelt
/// word may have been meant to be, and where help is.
std::string command_line_error(const CLI::App& parser, const CLI::Error& error);
/// The same for a first word that is no command.
std::string unknown_command(const CLI::App& parser, std::string_view word);

}  // namespace skua::cli
