// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <unistd.h>

#include <cstdlib>

#include "terminal_text.hpp"

namespace skua::cli {

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

bool wants_colour(Colour choice, int descriptor) {
  if (choice != Colour::Auto) return choice == Colour::Always;
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return is_terminal(descriptor) && !is_dumb && (no_colour == nullptr || *no_colour == '\0');
}

std::string harmless(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  TerminalText shown;
  shown.append(text, out);
  shown.finish(out);
  return out;
}

}  // namespace skua::cli
