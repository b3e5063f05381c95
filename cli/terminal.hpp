// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Escape sequences that set the text colour of a terminal. ECMA-48 §8.3.117
namespace skua::cli::colours {

inline constexpr std::string_view red = "\x1b[31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view blue = "\x1b[34m";
inline constexpr std::string_view magenta = "\x1b[35m";
inline constexpr std::string_view cyan = "\x1b[36m";
inline constexpr std::string_view grey = "\x1b[90m";
inline constexpr std::string_view plain = "\x1b[0m";  ///< resets the colour

}  // namespace skua::cli::colours

namespace skua::cli {

/// When to colour the output.
enum class Colour { Auto, Always, Never };

/// Reports whether to colour the output to a descriptor. Auto: if it is a terminal, unless NO_COLOR
/// or TERM=dumb is set.
bool wants_colour(Colour choice, int descriptor);

/// Escapes untrusted text, so that a terminal obeys nothing in it; see TerminalText.
std::string harmless(std::string_view text);

/// Escapes untrusted text that arrives in pieces, so that a terminal obeys nothing in it.
///
/// Control characters except newline and tab, and bytes that are not UTF-8, become escapes such as
/// `\x1b`; CR LF becomes a newline.
class TerminalText final {
 public:
  /// Escapes a piece; appends all complete characters so far to `out`.
  void append(std::string_view piece, std::string& out);
  /// Appends the rest: a character cut off by the end, escaped.
  void finish(std::string& out);

 private:
  void begin(unsigned char octet, std::string& out);
  void go_on(unsigned char octet, std::string& out);

  std::string held_;            // the beginning of a character, or a CR
  std::uint8_t missing_ = 0;    // bytes missing from that character
  std::uint8_t lowest_ = 0x80;  // allowed value of its next byte
  std::uint8_t highest_ = 0xbf;
};

}  // namespace skua::cli
