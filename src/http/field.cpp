// SPDX-License-Identifier: MIT
// Field names to small integers and back, and look-up in a parsed head. Known names are found by
// the bit set first, so that asking for one that is not there costs nothing.
#include "http/field.hpp"

#include "base/ascii.hpp"
#include "http/field_lookup.hpp"

#include <bit>
#include <cstring>

namespace skua::http {
namespace {

std::uint64_t load_half(const char* p) noexcept {
  std::uint32_t half;
  std::memcpy(&half, p, sizeof half);
  if constexpr (std::endian::native == std::endian::big) half = __builtin_bswap32(half);
  return half;
}

// lookup::first_word() in loads, none of which is outside of the text.
std::uint64_t first_word(std::string_view text) noexcept {
  const std::size_t size = text.size();
  const char* const p = text.data();
  if (size >= 8) return lookup::load(p);
  if (size >= 4) return load_half(p) | load_half(p + size - 4) << (8 * (size - 4));
  return lookup::first_word(text);
}

// Whether eight bytes of any text spell those of a known name. Only letters have bit 6 in one, and
// only they may differ in bit 5.
bool spells(std::uint64_t text, const char* known) noexcept {
  constexpr std::uint64_t letter_bits = lookup::case_bits << 1;
  const std::uint64_t wanted = lookup::load(known);
  return (text | (wanted & letter_bits) >> 1) == wanted;
}

}  // namespace

// What spells a known name is a token, so that nothing else has to be asked.
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
