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

/// Returns the known word nearest to a misspelt one: the one with the fewest wrong, missing, extra
/// or swapped letters. Returns an empty string if those are more than a third.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// Formats a command line error: the problem, a suggestion for a misspelt word, and a pointer to
/// --help.
std::string command_line_error(const CLI::App& parser, const CLI::Error& error);
/// Formats the error for a first word that is not a command.
std::string unknown_command(const CLI::App& parser, std::string_view word);

}  // namespace skua::cli
