// SPDX-License-Identifier: MIT
#include "reference/text.hpp"

namespace skua::cli::reference {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  return joined(words, between, [](const std::string& word) { return word; });
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char letter : text) {
    if (special.find(letter) != special.npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

std::string names_of(const Family& family, std::string_view between) {
  return joined(family.commands, between, [](const Command& command) { return command.name; });
}

}  // namespace skua::cli::reference
