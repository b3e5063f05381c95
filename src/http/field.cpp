// SPDX-License-Identifier: MIT
// Field names to small integers and back, and look-up in a parsed head. Known names are found by
// the bit set first, so that asking for one that is not there costs nothing.
#include "http/field.hpp"

#include "base/ascii.hpp"
#include "http/field_lookup.hpp"

namespace skua::http {

FieldName find_field_name(std::string_view name) noexcept {
  if (name.size() > lookup::longest_bytes) return FieldName::Other;
  return lookup::find(name.data(), name.size(), lookup::first_word(name));
}

const FieldLine* Head::find(FieldName wanted) const noexcept {
  if (!has(wanted)) return nullptr;
  for (const FieldLine& line : fields) {
    if (line.name == wanted) return &line;
  }
  return nullptr;
}

const FieldLine* Head::find(std::string_view wanted) const noexcept {
  const FieldName known_name = find_field_name(wanted);
  if (known_name != FieldName::Other) return find(known_name);
  for (const FieldLine& line : fields) {
    if (ascii::equals_ignoring_case(name(line), wanted)) return &line;
  }
  return nullptr;
}

}  // namespace skua::http
