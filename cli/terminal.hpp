// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace skua::cli {

/// When to colour the output.
enum class Colour { Auto, Always, Never };

/// Reports whether a descriptor is a terminal.
bool is_terminal(int descriptor) noexcept;

/// Reports whether to colour the output to a descriptor. Auto: if it is a terminal, unless NO_COLOR
/// or TERM=dumb is set.
bool wants_colour(Colour choice, int descriptor);

/// Escapes untrusted text, so that a terminal obeys nothing in it; see TerminalText.
std::string harmless(std::string_view text);

}  // namespace skua::cli
