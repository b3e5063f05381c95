// SPDX-License-Identifier: MIT
// Maps field names to small integers, and finds fields in a parsed head. Known names are looked up
// in the bit set first, so asking for an absent field costs nothing.
#include "http/message/field.hpp"

#include "base/ascii.hpp"
#include "base/byte_order.hpp"
#include "http/message/field_lookup.hpp"

#include <bit>

namespace skua::http {
namespace {

std::uint64_t load_half(const char* p) noexcept {
  return byte_order::load<std::uint32_t, std::endian::little>(p);
}

// Like lookup::first_word(), but in word loads that stay within the text.
std::uint64_t first_word(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* const p = text.data();
  if (size >= 8) return lookup::load(p);
  if (size >= 4) return load_half(p) | load_half(p + size - 4) << (8 * (size - 4));
  return lookup::first_word(text);
}

// Reports whether eight bytes of any text spell those of a known name. Only its letters have bit 6
// set, and only they may differ in bit 5.
bool spells(std::uint64_t text, const char* known) noexcept {
  constexpr std::uint64_t letter_bits = lookup::case_bits << 1;
  const std::uint64_t wanted = lookup::load(known);
  return (text | (wanted & letter_bits) >> 1) == wanted;
}

}  // namespace

// A text that spells a known name is a token, so nothing else needs checking.
FieldName find_field_name(std::string_view name) noexcept {
  const std::size_t size = name.size();
  const std::uint64_t word = first_word(name);
  const std::uint8_t index = lookup::slots[lookup::slot_of(word, size)];
  const lookup::Entry& entry = lookup::entries[index];
  const char* const known = entry.text.data();
  if (entry.size_bytes != size || !spells(word, known)) return FieldName::Other;
  if (size > 8) {
    // Overlapping words: nothing is read outside the name.
    if (!spells(lookup::load(name.data() + size - 8), known + size - 8)) return FieldName::Other;
    if (size > 16 && !spells(lookup::load(name.data() + 8), known + 8)) return FieldName::Other;
  }
  return static_cast<FieldName>(index);
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
