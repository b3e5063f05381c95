// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace skua::cli {

/// Which of the known words a misspelt one was meant to be: the one with the fewest letters that
/// are wrong, missing, too many, or swapped with the next. Empty where more than a third are.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// After a command line with words that nothing expects: a line that says what one of them
/// may have been meant to be, or nothing.
std::string suggestion(const CLI::App& parser);

}  // namespace skua::cli
