// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::cli {

/// When to colour what is printed.
enum class Colour { Auto, Always, Never };

/// Whether a person looks at a descriptor.
bool is_terminal(int descriptor) noexcept;

/// Whether to colour what goes to a descriptor; Auto: a terminal, unless NO_COLOR or TERM=dumb say
/// otherwise.
bool wants_colour(Colour choice, int descriptor);

/// Text of a stranger, so that a terminal shows it and obeys nothing in it: see TerminalText.
std::string harmless(std::string_view text);

}  // namespace skua::cli
