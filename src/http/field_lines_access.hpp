// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/ascii.hpp"
#include "http/field.hpp"
#include "skua/field_lines.hpp"

namespace skua::http {

/// The doors of FieldLines for those who know what find_field_name() says of a name.
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

/// The number by which FieldLines knows a name.
inline unsigned known_number(std::string_view name) noexcept {
  return static_cast<unsigned>(find_field_name(name));
}

/// Whether a line has a name, whose number is `known`.
inline bool is_named(const FieldLines::Line& line, unsigned known, std::string_view name) noexcept {
  if (line.known != known) return false;
  return known != 0 || ascii::equals_ignoring_case(line.name, name);
}

/// What a record of FieldLines can say.
inline constexpr std::size_t longest_name_bytes = 0xffffff;

/// Ends with: std::invalid_argument that says `header NAME` and the two texts.
[[noreturn]] void refuse_field(std::string_view name, std::string_view problem,
                               std::string_view why = {});
/// The same for a name that is no token, or is too long.
[[noreturn]] void refuse_field_name(std::string_view name);
/// The same where all of them are too long.
[[noreturn]] void refuse_fields();

}  // namespace skua::http
