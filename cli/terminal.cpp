// SPDX-License-Identifier: MIT
// In: untrusted bytes. Out: safe text. A character is held until it is complete and known not to be
// a control character (C0, DEL, C1).
#include "terminal.hpp"

#include <cstdlib>

#include "system.hpp"

namespace skua::cli {

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

namespace {

void append_escaped(std::string& to, unsigned char octet) {
  constexpr std::string_view digits = "0123456789abcdef";
  to.append("\\x").append(1, digits[octet >> 4U]).append(1, digits[octet & 15U]);
}

}  // namespace

void TerminalText::append(std::string_view piece, std::string& out) {
  for (const char c : piece) {
    const auto octet = static_cast<unsigned char>(c);
    if (held_.empty()) {
      begin(octet, out);
    } else {
      go_on(octet, out);
    }
  }
}

void TerminalText::finish(std::string& out) {
  for (const char c : held_) append_escaped(out, static_cast<unsigned char>(c));
  held_.clear();
}

// RFC 3629 §4
void TerminalText::begin(unsigned char octet, std::string& out) {
  const bool is_plain = (octet >= 0x20 && octet < 0x7f) || octet == '\n' || octet == '\t';
  if (is_plain) {
    out.push_back(static_cast<char>(octet));
    return;
  }
  const bool leads = octet >= 0xc2 && octet <= 0xf4;
  if (!leads && octet != '\r') return append_escaped(out, octet);
  held_.push_back(static_cast<char>(octet));
  missing_ = octet >= 0xf0 ? 3 : octet >= 0xe0 ? 2 : 1;
  lowest_ = octet == 0xe0 ? 0xa0 : octet == 0xf0 ? 0x90 : octet == 0xc2 ? 0xa0 : 0x80;
  highest_ = octet == 0xed ? 0x9f : octet == 0xf4 ? 0x8f : 0xbf;
}

void TerminalText::go_on(unsigned char octet, std::string& out) {
  const bool is_line_end = held_ == "\r" && octet == '\n';
  const bool fits = held_ != "\r" && octet >= lowest_ && octet <= highest_;
  const bool is_c1 = held_ == "\xc2" && octet >= 0x80 && octet < 0xa0;
  if (!fits) {
    if (is_c1 || is_line_end) held_.clear();  // U+009B is `\x9b`
    finish(out);
    return is_c1 ? append_escaped(out, octet) : begin(octet, out);
  }
  held_.push_back(static_cast<char>(octet));
  lowest_ = 0x80;
  highest_ = 0xbf;
  if (--missing_ != 0) return;
  out += held_;
  held_.clear();
}

}  // namespace skua::cli
