// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace skua::cli::reference {

struct Term {
  std::string_view name;
  std::string_view text;
};

/// The part of a manual page that no option says. `Backquotes` enclose what a user types; an empty
/// line separates paragraphs.
struct PageText {
  std::string_view page;         ///< the first command of its family; `skua` for the whole
  std::string_view summary;      ///< what stands after the names
  std::string_view description;  ///< paragraphs before those of --help
  std::span<const Term> environment;
  std::span<const Term> files;
};

/// Returns the text of a page.
///
/// Ends with: std::out_of_range if there is none.
const PageText& text_of(std::string_view page);

}  // namespace skua::cli::reference
