// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ascii.hpp"
#include "http/message/field.hpp"
#include "skua/field_lines.hpp"

namespace skua::http {

/// Access to FieldLines for callers that already have the result of find_field_name().
struct FieldLinesAccess {
  static void add(FieldLines& lines, FieldName known, std::string_view name,
                  std::string_view value) {
    lines.add(static_cast<unsigned>(known), name, value);
  }
  static void set(FieldLines& lines, FieldName known, std::string_view name,
                  std::string_view value) {
    if (has(lines, known, name)) [[unlikely]]
      return lines.replace(static_cast<unsigned>(known), name, value);
    lines.add(static_cast<unsigned>(known), name, value);
  }
  static void remove(FieldLines& lines, FieldName known, std::string_view name) noexcept {
    lines.remove(static_cast<unsigned>(known), name);
  }
  static bool has(const FieldLines& lines, FieldName known, std::string_view name) noexcept {
    return lines.has(static_cast<unsigned>(known), name);
  }
  static std::optional<std::string_view> find(const FieldLines& lines, FieldName known,
                                              std::string_view name, std::size_t nth = 0) noexcept {
    return lines.find(static_cast<unsigned>(known), name, nth);
  }
};

/// Returns the number that FieldLines uses for a name; 0 for all names that are not known.
inline unsigned known_number(std::string_view name) noexcept {
  return static_cast<unsigned>(find_field_name(name));
}

/// Reports whether a line has this name, whose number is `known`.
inline bool is_named(const FieldLines::Line& line, unsigned known, std::string_view name) noexcept {
  if (line.known != known) return false;
  return known != 0 || ascii::equals_ignoring_case(line.name, name);
}

/// The longest name that fits in a record of FieldLines.
inline constexpr std::size_t longest_name_bytes = 0xffffff;

/// Throws std::invalid_argument with `header NAME` and the two texts.
[[noreturn]] void throw_bad_field(std::string_view name, std::string_view problem,
                                  std::string_view why = {});
/// Throws std::invalid_argument for a name that is not a token or is too long.
[[noreturn]] void throw_bad_field_name(std::string_view name);
/// Throws std::invalid_argument for fields that are too long in total.
[[noreturn]] void refuse_fields();

}  // namespace skua::http
