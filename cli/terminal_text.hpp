// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skua::cli {

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
