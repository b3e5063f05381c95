// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "h2/hpack_rules.hpp"
#include "h2/hpack_table.hpp"

namespace skua::h2 {

/// A decoder for the header blocks of one direction of a connection.
///
/// RFC:       7541
class HpackDecoder final {
 public:
  enum class Result : std::uint8_t {
    Fine,
    Malformed,  ///< the connection must end with COMPRESSION_ERROR
    Stopped,    ///< the sink returned false
  };
  static constexpr std::size_t default_literal_bytes = std::size_t{256} * 1024;

  /// `max_table_bytes` is our SETTINGS_HEADER_TABLE_SIZE. Names and values above
  /// `max_literal_bytes`, encoded or decoded, are rejected.
  explicit HpackDecoder(std::uint32_t max_table_bytes = default_table_bytes,
                        std::size_t max_literal_bytes = default_literal_bytes) noexcept;

  /// Begins a header block.
  void start() noexcept { has_field_ = false; }
  /// Ends the block and frees the memory of a long literal.
  void end() noexcept {
    if (scratch_bytes_ <= kept_scratch_bytes) return;
    scratch_.reset();
    scratch_bytes_ = 0;
  }

  /// Decodes all complete fields in `block` and sets `taken` to their size. The caller passes the
  /// rest again, followed by more input, unless `is_last`. Calls `sink` with each
  /// `const DecodedField&`; it returns whether to continue.
  template <class Sink>
  Result decode(std::string_view block, bool is_last, std::size_t& taken, Sink&& sink);

  /// The peer has acknowledged our SETTINGS. This call is needed only if they allow less than the
  /// default, which the peer may use until then. RFC 7541 §4.2
  void on_settings_acknowledged() noexcept;

  /// Heap memory in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return table_.memory_bytes() + scratch_bytes_;
  }
  /// The dynamic table, for tests.
  [[nodiscard]] const HpackTable& table() const noexcept SKUA_LIFETIMEBOUND { return table_; }

 private:
  static constexpr std::size_t kept_scratch_bytes = 4096;

  enum class Step : std::uint8_t { Field, Update, NeedMore, Malformed };
  struct Literal;

  // HpackTable::Entry::facts: a FieldName, a Pseudo, and two flags.
  static constexpr unsigned pseudo_shift = 8;
  static constexpr std::uint32_t malformed_bit = 0x1'0000;
  static constexpr std::uint32_t malformed_name_bit = 0x2'0000;

  static constexpr unsigned indexed_bit = 0x80;
  static constexpr unsigned index_mask = 0x7f;  // in the first octet; all ones: more octets follow

  // 001: a size update. RFC 7541 §6.3
  static constexpr bool is_update(char first) noexcept {
    return (static_cast<unsigned char>(first) & 0xe0U) == 0x20U;
  }
  // Advances `at` past what was read, unless more input is needed.
  Step next(const char*& at, const char* end, DecodedField& field);
  Step next_indexed(const char*& at, const char* end, DecodedField& field) noexcept;
  Step update_size(const char*& at, const char* end);
  Step next_literal(const char*& at, const char* end, DecodedField& field);
  Step read_literal(const char*& at, const char* end, Literal& literal) const noexcept;
  bool decode_literal(const Literal& literal, DecodedField& field);
  rules::Name find_name(const Literal& literal, DecodedField& field) const noexcept;
  [[nodiscard]] bool find(std::uint32_t index, DecodedField& field) const noexcept;
  char* scratch(std::size_t bytes);

  HpackTable table_{default_table_bytes};
  std::unique_ptr<char[]> scratch_;  // the texts of the current field
  std::size_t scratch_bytes_ = 0;
  std::size_t max_literal_bytes_;
  std::uint32_t max_table_bytes_;     // the maximum for size updates now
  std::uint32_t wanted_table_bytes_;  // the maximum once our SETTINGS are acknowledged
  bool has_field_ = false;            // in this block
  bool must_update_ = false;          // the next block must begin with a size update
};

inline bool HpackDecoder::find(std::uint32_t index, DecodedField& field) const noexcept {
  const std::uint32_t age = index - static_table::count - 1;
  if (age >= table_.count()) return false;
  const HpackTable::Entry& entry = table_.entry(age);
  const std::string_view name = table_.name(entry);
  field.name = name;
  field.value = {name.data() + name.size(), entry.value_bytes};
  field.known = static_cast<http::FieldName>(entry.facts & 0xffU);
  field.pseudo = static_cast<Pseudo>(entry.facts >> pseudo_shift & 0xffU);
  field.is_malformed = (entry.facts & malformed_bit) != 0;
  return true;
}

template <class Sink>
HpackDecoder::Result HpackDecoder::decode(std::string_view block, bool is_last, std::size_t& taken,
                                          Sink&& sink) {
  const char* at = block.data();
  const char* const end = at + block.size();
  taken = 0;
  if (must_update_ && at != end && !is_update(*at)) return Result::Malformed;
  DecodedField made;
  while (at != end) {
    const DecodedField* field = &made;
    const auto first = static_cast<unsigned char>(*at);
    const unsigned index = first & index_mask;
    if (first > indexed_bit && index != index_mask) {
      ++at;
      if (index <= static_table::count) {
        field = &static_table::fields[index];
      } else if (!find(index, made)) {
        return Result::Malformed;
      }
    } else {
      const Step step = next(at, end, made);
      if (step == Step::Update) continue;
      if (step == Step::NeedMore) break;
      if (step == Step::Malformed) return Result::Malformed;
    }
    has_field_ = true;
    if (sink(*field)) continue;
    taken = static_cast<std::size_t>(at - block.data());
    return Result::Stopped;
  }
  taken = static_cast<std::size_t>(at - block.data());
  return is_last && at != end ? Result::Malformed : Result::Fine;
}

}  // namespace skua::h2
