// SPDX-License-Identifier: MIT
// In: bytes of header blocks. Out: fields. A field begins with its kind and a number:
//
//   1nnnnnnn                an indexed field             RFC 7541 §6.1
//   01nnnnnn  [name] value  a literal, added to a table  §6.2.1
//   0000nnnn  [name] value  a literal, not added         §6.2.2
//   0001nnnn  [name] value  a literal, never indexed     §6.2.3
//   001nnnnn                a table size update          §6.3
//
// Lengths are read first, and texts are decoded only once the field is complete, so input that
// arrives byte by byte does not cost repeated decoding.
#include "h2/hpack_decoder.hpp"

#include <algorithm>
#include <bit>

#include "h2/huffman.hpp"

namespace skua::h2 {
namespace {

constexpr std::uint32_t max_number = std::uint32_t{1} << 28;
constexpr std::size_t max_octets = 5;  // after the prefix
constexpr std::size_t min_scratch_bytes = 64;

enum class NumberRead : std::uint8_t { Fine, NeedMore, Malformed };

/// Reads a number that begins in the lowest `bits` of the first octet. RFC 7541 §5.1
NumberRead read_number(const char*& at, const char* end, unsigned bits,
                       std::uint32_t& number) noexcept {
  const std::uint32_t most = (1U << bits) - 1;
  number = static_cast<unsigned char>(*at) & most;
  const char* next = at + 1;
  if (number == most) {
    std::uint64_t sum = most;
    for (unsigned octet = 0;; ++octet) {
      if (octet == max_octets) return NumberRead::Malformed;
      if (next == end) return NumberRead::NeedMore;
      const auto byte = static_cast<unsigned char>(*next++);
      sum += std::uint64_t{byte & 0x7fU} << (7 * octet);
      if (sum > max_number) return NumberRead::Malformed;
      if ((byte & 0x80U) == 0) break;
    }
    number = static_cast<std::uint32_t>(sum);
  }
  at = next;
  return NumberRead::Fine;
}

/// A string literal in its encoded form. RFC 7541 §5.2
struct CodedText {
  std::string_view bytes{};
  bool is_coded = false;

  [[nodiscard]] std::size_t room() const noexcept {
    return is_coded ? huffman_room(bytes.size()) : 0;
  }
};

NumberRead read_text(const char*& at, const char* end, std::size_t max_bytes,
                     CodedText& text) noexcept {
  if (at == end) return NumberRead::NeedMore;
  text.is_coded = (static_cast<unsigned char>(*at) & 0x80U) != 0;
  std::uint32_t size = 0;
  const NumberRead read = read_number(at, end, 7, size);
  if (read != NumberRead::Fine) return read;
  if (size > max_bytes) return NumberRead::Malformed;
  if (static_cast<std::size_t>(end - at) < size) return NumberRead::NeedMore;
  text.bytes = {at, size};
  at += size;
  return NumberRead::Fine;
}

/// Sets `text` to the decoded text. Huffman codes are decoded to `out`, which advances past them.
/// Returns false if the text is malformed.
bool decode_text(const CodedText& coded, char*& out, std::string_view& text) noexcept {
  text = coded.bytes;
  if (!coded.is_coded) return true;
  char* const end = huffman_read(coded.bytes, out);
  if (end == nullptr) return false;
  text = {out, static_cast<std::size_t>(end - out)};
  out = end;
  return true;
}

}  // namespace

struct HpackDecoder::Literal {
  CodedText name{};
  CodedText value{};
  std::uint32_t name_index = 0;  ///< 0: see `name`
  bool enters_table = false;
};

HpackDecoder::HpackDecoder(std::uint32_t max_table_bytes, std::size_t max_literal_bytes) noexcept
    : max_literal_bytes_(max_literal_bytes),
      max_table_bytes_(std::max(max_table_bytes, default_table_bytes)),
      wanted_table_bytes_(max_table_bytes) {}

void HpackDecoder::on_settings_acknowledged() noexcept {
  max_table_bytes_ = wanted_table_bytes_;
  must_update_ = table_.limit_bytes() > max_table_bytes_;
}

HpackDecoder::Step HpackDecoder::next(const char*& at, const char* end, DecodedField& field) {
  const auto first = static_cast<unsigned char>(*at);
  if ((first & indexed_bit) != 0) return next_indexed(at, end, field);
  return is_update(*at) ? update_size(at, end) : next_literal(at, end, field);
}

HpackDecoder::Step HpackDecoder::next_indexed(const char*& at, const char* end,
                                              DecodedField& field) noexcept {
  std::uint32_t index = 0;
  const NumberRead read = read_number(at, end, 7, index);
  if (read == NumberRead::NeedMore) return Step::NeedMore;
  // decode() has already handled the static table.
  return read == NumberRead::Fine && find(index, field) ? Step::Field : Step::Malformed;
}

HpackDecoder::Step HpackDecoder::update_size(const char*& at, const char* end) {
  std::uint32_t bytes = 0;
  const NumberRead read = read_number(at, end, 5, bytes);
  if (read == NumberRead::NeedMore) return Step::NeedMore;
  if (read == NumberRead::Malformed || has_field_ || bytes > max_table_bytes_) {
    return Step::Malformed;
  }
  table_.set_limit(bytes);
  must_update_ = false;
  return Step::Update;
}

HpackDecoder::Step HpackDecoder::next_literal(const char*& at, const char* end,
                                              DecodedField& field) {
  Literal literal;
  const char* behind = at;
  const Step step = read_literal(behind, end, literal);
  if (step != Step::Field) return step;
  if (!decode_literal(literal, field)) return Step::Malformed;
  at = behind;
  return Step::Field;
}

HpackDecoder::Step HpackDecoder::read_literal(const char*& at, const char* end,
                                              Literal& literal) const noexcept {
  const auto step_of = [](NumberRead read) {
    return read == NumberRead::NeedMore ? Step::NeedMore : Step::Malformed;
  };
  literal.enters_table = (static_cast<unsigned char>(*at) & 0x40U) != 0;
  NumberRead read = read_number(at, end, literal.enters_table ? 6 : 4, literal.name_index);
  if (read != NumberRead::Fine) return step_of(read);
  if (literal.name_index > static_table::count + table_.count()) return Step::Malformed;
  if (literal.name_index == 0) {
    read = read_text(at, end, max_literal_bytes_, literal.name);
    if (read != NumberRead::Fine) return step_of(read);
  }
  read = read_text(at, end, max_literal_bytes_, literal.value);
  return read == NumberRead::Fine ? Step::Field : step_of(read);
}

/// Looks up the name with the literal's index, and its properties.
rules::Name HpackDecoder::find_name(const Literal& literal, DecodedField& field) const noexcept {
  if (literal.name_index <= static_table::count) {
    const DecodedField& found = static_table::fields[literal.name_index];
    field.name = found.name;
    return {found.known, found.pseudo, rules::is_connection_specific(found.known)};
  }
  const HpackTable::Entry& entry = table_.entry(literal.name_index - static_table::count - 1);
  field.name = table_.name(entry);
  return {.known = static_cast<http::FieldName>(entry.facts & 0xffU),
          .pseudo = static_cast<Pseudo>(entry.facts >> pseudo_shift & 0xffU),
          .is_malformed = (entry.facts & malformed_name_bit) != 0};
}

bool HpackDecoder::decode_literal(const Literal& literal, DecodedField& field) {
  rules::Name name;
  // The name of a dynamic entry is copied, because adding an entry may evict it.
  bool is_name_copied = false;
  if (literal.name_index != 0) {
    name = find_name(literal, field);
    is_name_copied = literal.enters_table && literal.name_index > static_table::count;
  }
  char* out = scratch(literal.name.room() + literal.value.room() +
                      (is_name_copied ? field.name.size() : 0));
  if (literal.name_index == 0) {
    if (!decode_text(literal.name, out, field.name)) return false;
    name = rules::look_at(field.name);
  } else if (is_name_copied) {
    char* const copy = out;
    out = std::copy_n(field.name.data(), field.name.size(), out);
    field.name = {copy, field.name.size()};
  }
  if (!decode_text(literal.value, out, field.value)) return false;
  if (std::max(field.name.size(), field.value.size()) > max_literal_bytes_) return false;

  field.known = name.known;
  field.pseudo = name.pseudo;
  field.is_malformed = name.is_malformed || !rules::is_value(name, field.value);
  if (!literal.enters_table) return true;
  HpackTable::Entry* const entry = table_.add(field.name, field.value);
  if (entry == nullptr) return true;
  entry->facts = static_cast<std::uint32_t>(name.known) |
                 static_cast<std::uint32_t>(name.pseudo) << pseudo_shift |
                 (name.is_malformed ? malformed_name_bit : 0) |
                 (field.is_malformed ? malformed_bit : 0);
  return true;
}

/// Returns memory for the texts of one field; it may be null if `bytes` is 0.
char* HpackDecoder::scratch(std::size_t bytes) {
  if (bytes > scratch_bytes_) {
    const std::size_t larger = std::bit_ceil(std::max(bytes, min_scratch_bytes));
    scratch_ = std::make_unique_for_overwrite<char[]>(larger);
    scratch_bytes_ = larger;
  }
  return scratch_.get();
}

}  // namespace skua::h2
