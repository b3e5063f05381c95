// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "ws/utf8.hpp"

namespace skua::cli {
namespace {

void append_escaped(std::string& to, unsigned char octet) {
  constexpr std::string_view digits = "0123456789abcdef";
  to.append("\\x").append(1, digits[octet >> 4U]).append(1, digits[octet & 15U]);
}

}  // namespace

bool is_terminal(int descriptor) noexcept { return ::isatty(descriptor) == 1; }

bool wants_colour(Colour choice, int descriptor) {
  if (choice != Colour::Auto) return choice == Colour::Always;
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  const bool is_dumb = kind != nullptr && std::string_view(kind) == "dumb";
  return is_terminal(descriptor) && !is_dumb && (no_colour == nullptr || *no_colour == '\0');
}

std::string harmless(std::string_view text) {
  const bool is_text = ws::is_utf8(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octet = static_cast<unsigned char>(text[i]);
    const bool is_control = (octet < 0x20 && octet != '\n' && octet != '\t') || octet == 0x7f;
    // C1 controls: U+0080 to U+009F.
    const bool begins_c1 =
        octet == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    if (is_text && begins_c1) {
      append_escaped(out, static_cast<unsigned char>(text[++i]));
    } else if (is_control || (!is_text && octet >= 0x80)) {
      append_escaped(out, octet);
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace skua::cli
