// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"

namespace skua::cli {

/// A place in a file, counted from one.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
};

/// A key of a TOML file and its value; of an array, its values.
struct Setting {
  std::string key{};
  std::vector<std::string> values{};  ///< as the command line would have them; a flag is `true`
  bool is_flag = false;               ///< the value is a boolean
  bool is_array = false;
  Place key_place{};
  Place value_place{};
};

/// Reports whether this build can read TOML: it was built with toml++.
bool has_settings_files() noexcept;

/// Parses a TOML file without tables, and returns its settings in the order of the file.
///
/// Ends with: a text as at_place() makes it, for malformed TOML, tables and dates.
Result<std::vector<Setting>, Problem> parse_settings(std::string_view text,
                                                     const std::string& file);

/// Returns `FILE:LINE:COLUMN: text`.
std::string at_place(const std::string& file, const Place& place, const std::string& text);

/// Formats `key = value`, or `key = [values]`, as a line of TOML without its end.
std::string format_setting(const Setting& setting);

}  // namespace skua::cli
