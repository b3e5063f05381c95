// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "h2/hpack_rules.hpp"
#include "skua/config.hpp"

/// The static table. RFC 7541 appendix A
namespace skua::h2::static_table {

inline constexpr std::uint32_t count = 61;

struct Line {
  std::string_view name;
  std::string_view value{};
};

/// In index order; the first has index 1.
inline constexpr std::array<Line, count> lines = {{{":authority"},
                                                   {":method", "GET"},
                                                   {":method", "POST"},
                                                   {":path", "/"},
                                                   {":path", "/index.html"},
                                                   {":scheme", "http"},
                                                   {":scheme", "https"},
                                                   {":status", "200"},
                                                   {":status", "204"},
                                                   {":status", "206"},
                                                   {":status", "304"},
                                                   {":status", "400"},
                                                   {":status", "404"},
                                                   {":status", "500"},
                                                   {"accept-charset"},
                                                   {"accept-encoding", "gzip, deflate"},
                                                   {"accept-language"},
                                                   {"accept-ranges"},
                                                   {"accept"},
                                                   {"access-control-allow-origin"},
                                                   {"age"},
                                                   {"allow"},
                                                   {"authorization"},
                                                   {"cache-control"},
                                                   {"content-disposition"},
                                                   {"content-encoding"},
                                                   {"content-language"},
                                                   {"content-length"},
                                                   {"content-location"},
                                                   {"content-range"},
                                                   {"content-type"},
                                                   {"cookie"},
                                                   {"date"},
                                                   {"etag"},
                                                   {"expect"},
                                                   {"expires"},
                                                   {"from"},
                                                   {"host"},
                                                   {"if-match"},
                                                   {"if-modified-since"},
                                                   {"if-none-match"},
                                                   {"if-range"},
                                                   {"if-unmodified-since"},
                                                   {"last-modified"},
                                                   {"link"},
                                                   {"location"},
                                                   {"max-forwards"},
                                                   {"proxy-authenticate"},
                                                   {"proxy-authorization"},
                                                   {"range"},
                                                   {"referer"},
                                                   {"refresh"},
                                                   {"retry-after"},
                                                   {"server"},
                                                   {"set-cookie"},
                                                   {"strict-transport-security"},
                                                   {"transfer-encoding"},
                                                   {"user-agent"},
                                                   {"vary"},
                                                   {"via"},
                                                   {"www-authenticate"}}};

/// The decoded form of each entry, by index; index 0 is unused.
inline constexpr std::array<DecodedField, count + 1> fields = [] {
  std::array<DecodedField, count + 1> made{};
  for (std::size_t i = 0; i < count; ++i) {
    const rules::Name name = rules::look_at(lines[i].name);
    made[i + 1] = {.name = lines[i].name,
                   .value = lines[i].value,
                   .known = name.known,
                   .pseudo = name.pseudo,
                   .is_malformed = name.is_malformed || !rules::is_value(name, lines[i].value)};
  }
  return made;
}();

static_assert(fields[count].name == "www-authenticate" && fields[1].is_malformed);

}  // namespace skua::h2::static_table

namespace skua::h2 {

/// The overhead of each entry, besides its texts. RFC 7541 §4.1
inline constexpr std::uint32_t entry_charge = 32;
/// The default of SETTINGS_HEADER_TABLE_SIZE. RFC 9113 §6.5.2
inline constexpr std::uint32_t default_table_bytes = 4096;

/// HPACK's dynamic table: a FIFO that evicts its oldest entries to make room.
///
/// A table that never had an entry owns no memory. It grows by doubling, up to its limit.
/// RFC:       7541 §2.3.2, §4
class HpackTable final {
 public:
  /// The metadata of an entry.
  struct Entry {
    std::uint32_t begin = 0;  ///< of name and value, counted from the first octet ever stored
    std::uint32_t name_bytes = 0;
    std::uint32_t value_bytes = 0;
    std::uint32_t facts = 0;  ///< for the owner's use
  };

  explicit HpackTable(std::uint32_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}
  HpackTable(const HpackTable&) = delete;
  HpackTable& operator=(const HpackTable&) = delete;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// The number of entries ever added, modulo 2^32.
  [[nodiscard]] std::uint32_t added() const noexcept { return added_; }
  /// The size as defined in RFC 7541 §4.1.
  [[nodiscard]] std::uint32_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::uint32_t limit_bytes() const noexcept { return limit_bytes_; }

  /// Returns the entry that is followed by `age` later ones; age < count().
  [[nodiscard]] const Entry& entry(std::uint32_t age) const noexcept SKUA_LIFETIMEBOUND {
    return entries_[(added_ - 1 - age) & (entry_capacity_ - 1)];
  }
  [[nodiscard]] std::string_view name(const Entry& entry) const noexcept SKUA_LIFETIMEBOUND {
    return {text_.get() + (entry.begin - text_origin_), entry.name_bytes};
  }
  [[nodiscard]] std::string_view value(const Entry& entry) const noexcept SKUA_LIFETIMEBOUND {
    return {text_.get() + (entry.begin - text_origin_) + entry.name_bytes, entry.value_bytes};
  }

  /// Adds an entry. Returns null if it alone exceeds the limit, which empties the table (RFC 7541
  /// §4.4). The texts must not lie in this table, which may move them.
  Entry* add(std::string_view name, std::string_view value);

  /// Sets the limit, evicts entries that no longer fit, and frees excess memory.
  void set_limit(std::uint32_t bytes);

  /// Heap memory in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return text_capacity_ + entry_capacity_ * sizeof(Entry);
  }

 private:
  void evict(std::uint32_t max_bytes) noexcept;
  void clear() noexcept;
  void make_room(std::uint32_t text_bytes);
  void move_texts(std::uint32_t capacity);
  void grow_entries();
  [[nodiscard]] std::uint32_t oldest_begin() const noexcept;

  std::unique_ptr<char[]> text_;      // names and values, oldest first, without gaps
  std::unique_ptr<Entry[]> entries_;  // a ring; the capacity is a power of two
  std::uint32_t text_capacity_ = 0;
  std::uint32_t text_end_ = 0;     // where the next text goes
  std::uint32_t text_origin_ = 0;  // the Entry::begin that corresponds to text_[0]
  std::uint32_t entry_capacity_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t added_ = 0;
  std::uint32_t size_bytes_ = 0;
  std::uint32_t limit_bytes_;
};

}  // namespace skua::h2
