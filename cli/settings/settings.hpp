// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configure.hpp"

// Options from elsewhere than the command line. They go by the same table of options: a key of a
// file is the long name of an option, or `dir` for the operand DIR.
namespace skua::cli {

/// Returns the words of the command line, without those from elsewhere. To be called first.
std::vector<std::string> words_of(const CLI::App& parser);

/// Sets the options that the command line does not, from variables such as SKUA_SERVE_MAX_AGE.
void apply_environment(CLI::App& parser);

/// Sets the options that nothing has set yet from a TOML file, whose keys may not be in `left_out`.
///
/// Ends with: CLI::ValidationError, which names the file, the line, the column and the key, and the
///            key that was probably meant.
void apply_settings(CLI::App& parser, const std::string& file,
                    std::span<const std::string_view> left_out = {});

/// Returns all options as a TOML file, in groups. Those that are not set are comments.
std::string settings_text(CLI::App& parser);

}  // namespace skua::cli
