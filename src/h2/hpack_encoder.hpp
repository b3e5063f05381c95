// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "h2/hpack_rules.hpp"
#include "h2/hpack_table.hpp"

namespace skua::h2 {

/// Whether a field is added to the dynamic table.
enum class Indexing : std::uint8_t {
  Auto,     ///< added if that pays off
  Without,  ///< not added
  Never,    ///< not added, nor by any intermediary. RFC 7541 §7.1.3
};

/// An encoder for the header blocks of one direction of a connection.
///
/// RFC:       7541
class HpackEncoder final {
 public:
  static constexpr std::uint32_t usual_table_bytes = 1024;

  /// Limits the table to this size, even if the peer allows more.
  explicit HpackEncoder(std::uint32_t max_table_bytes = usual_table_bytes) noexcept;

  /// Applies the peer's SETTINGS_HEADER_TABLE_SIZE to blocks that begin from now on.
  void set_peer_table_bytes(std::uint32_t bytes) noexcept;

  /// Begins a header block and announces changes of the table size. RFC 7541 §4.2
  void start(std::string& out);

  /// Adds a field. `known` is the FieldName of `name`, or Other. `name` is case-insensitive.
  void add(std::string& out, http::FieldName known, std::string_view name, std::string_view value,
           Indexing indexing = Indexing::Auto);
  /// Adds `:status`, which must have three digits.
  void add_status(std::string& out, std::uint16_t status);
  /// Adds a pseudo-header field; None and Unknown are not allowed.
  void add_pseudo(std::string& out, Pseudo which, std::string_view value);

  /// Heap memory in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return table_.memory_bytes(); }
  /// The dynamic table, for tests.
  [[nodiscard]] const HpackTable& table() const noexcept SKUA_LIFETIMEBOUND { return table_; }

 private:
  struct Name;
  static const std::array<Name, 64> known_names;
  static const std::array<Name, 8> pseudo_names;
  static constexpr std::size_t tag_count = 80;

  void add_known(std::string& out, const Name& name, std::string_view value, Indexing indexing);
  void add_other(std::string& out, std::string_view name, std::string_view value,
                 Indexing indexing);
  void add_unseen(std::string& out, const Name& name, std::uint32_t name_index,
                  std::string_view value, Indexing indexing);
  void add_literal(std::string& out, const Name& name, std::uint32_t name_index,
                   std::string_view value, Indexing indexing);
  [[nodiscard]] std::uint32_t find_latest(unsigned tag, std::string_view value) const noexcept;
  [[nodiscard]] std::uint32_t find(unsigned tag, std::string_view value) const noexcept;
  [[nodiscard]] std::uint32_t find_other(const Name& name, std::string_view value,
                                         std::uint32_t& name_index) const noexcept;

  HpackTable table_;
  std::uint32_t max_bytes_;       // our own limit
  std::uint32_t next_bytes_;      // limit of the table from the next block on
  std::uint32_t smallest_bytes_;  // the lowest limit since the last block
  bool has_update_;               // to be announced by the next block
  // For each tag, the number of its latest entry, counted from 1, modulo 2^16.
  std::array<std::uint16_t, tag_count> latest_{};
};

}  // namespace skua::h2
