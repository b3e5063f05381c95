// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/ascii.hpp"
#include "http/field.hpp"

namespace skua::http {

/// Returns the value of a list-based field: its lines, joined by commas.
///
/// RFC:       9110 §5.3
inline std::string join_lines(const Head& head, std::string_view name) {
  std::string all;
  for (const FieldLine& line : head.fields) {
    if (!ascii::equals_ignoring_case(head.name(line), name)) continue;
    if (!all.empty()) all.append(", ");
    all.append(head.value(line));
  }
  return all;
}

}  // namespace skua::http
