// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/field.hpp"
#include "skua/field_lines.hpp"

namespace skua::http {

/// What writers need of field lines, and who has looked a name up already.
struct FieldLinesAccess {
  /// Calls `use(FieldName, name, value)` for each line, in their order.
  template <class Use>
  static void for_each(const FieldLines& lines, const Use& use) {
    const char* at = lines.data();
    for (std::size_t i = 0; i < lines.count_; ++i) {
      const FieldLines::Line line = lines.line(i);
      const std::string_view name(at, line.name_bytes);
      const std::string_view value(at + line.name_bytes + 2, line.value_bytes);
      use(static_cast<FieldName>(line.known), name, value);
      at += line.name_bytes + line.value_bytes + FieldLines::framing_bytes;
    }
  }
  /// The same as FieldLines::add and set; `known` is what the name was found to be.
  static void add(FieldLines& lines, FieldName known, std::string_view name,
                  std::string_view value);
  static void set(FieldLines& lines, FieldName known, std::string_view name,
                  std::string_view value);
};

}  // namespace skua::http
