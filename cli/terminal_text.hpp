// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace skua::cli {

/// Text of a stranger that comes in pieces, so that a terminal shows it and obeys nothing in it.
///
/// Control characters but newline and tab, and bytes that are not UTF-8, become `\x1b`; CR LF
/// becomes a newline.
class TerminalText final {
 public:
  /// Appends what can be shown of it by now.
  void append(std::string_view piece, std::string& out);
  /// Appends the rest: a sequence of bytes that the end has cut.
  void finish(std::string& out);

 private:
  void begin(unsigned char octet, std::string& out);
  void go_on(unsigned char octet, std::string& out);

  std::string held_;            // the beginning of a character, or a CR
  std::uint8_t missing_ = 0;    // bytes of that character
  std::uint8_t lowest_ = 0x80;  // that its next byte may be
  std::uint8_t highest_ = 0xbf;
};

}  // namespace skua::cli
