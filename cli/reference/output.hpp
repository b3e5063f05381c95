// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "reference/table.hpp"

namespace skua::cli::reference {

// Each returns the content of one file.

/// Returns the page of `skua` itself, or of a family of commands, in roff with man(7) macros.
/// `date`: year-month-day.
std::string overview_page(const Table& table, std::string_view date);
std::string family_page(const Table& table, const Family& family, std::string_view date);

std::string bash_completion(const Table& table);
std::string zsh_completion(const Table& table);
std::string fish_completion(const Table& table);

}  // namespace skua::cli::reference
