// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reference/table.hpp"

namespace skua::cli::reference {

/// Joins words, each passed through a function.
template <class Words, class Function>
std::string joined(const Words& words, std::string_view between, Function text_of) {
  std::string out;
  for (const auto& word : words) {
    if (&word != &*std::begin(words)) out += between;
    out += text_of(word);
  }
  return out;
}
std::string joined(const std::vector<std::string>& words, std::string_view between);

/// Puts a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view special);
/// Quotes a word for POSIX shells and zsh.
std::string shell_quoted(std::string_view text);

/// Returns the names of a family's commands: `get post put`.
std::string names_of(const Family& family, std::string_view between);

}  // namespace skua::cli::reference
