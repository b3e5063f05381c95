// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "skua/config.hpp"

namespace skua::h2 {

/// What each entry is charged above its texts. RFC 7541 §4.1
inline constexpr std::uint32_t entry_charge = 32;
/// What a table may hold before anybody says otherwise. RFC 9113 §6.5.2
inline constexpr std::uint32_t default_table_bytes = 4096;

/// HPACK's dynamic table: the latest entry first, the oldest evicted to make room.
///
/// An empty one that never had an entry owns no memory; it grows by doubling, up to what may be in
/// it.
/// RFC:       7541 §2.3.2, §4
class HpackTable final {
 public:
  /// What is kept of an entry beside its texts.
  struct Entry {
    std::uint32_t begin = 0;  ///< of name and value, counted from the first octet ever kept
    std::uint32_t name_bytes = 0;
    std::uint32_t value_bytes = 0;
    std::uint32_t facts = 0;  ///< whatever the owner wants to know again
  };

  explicit HpackTable(std::uint32_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}
  HpackTable(const HpackTable&) = delete;
  HpackTable& operator=(const HpackTable&) = delete;

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  /// How many entries were ever added, modulo 2^32.
  [[nodiscard]] std::uint32_t added() const noexcept { return added_; }
  /// As RFC 7541 §4.1 counts.
  [[nodiscard]] std::uint32_t size_bytes() const noexcept { return size_bytes_; }
  [[nodiscard]] std::uint32_t limit_bytes() const noexcept { return limit_bytes_; }

  /// The entry that `age` others came after; age < count().
  [[nodiscard]] const Entry& entry(std::uint32_t age) const noexcept SKUA_LIFETIMEBOUND {
    return entries_[(added_ - 1 - age) & (entry_capacity_ - 1)];
  }
  [[nodiscard]] std::string_view name(const Entry& entry) const noexcept SKUA_LIFETIMEBOUND {
    return {text_.get() + (entry.begin - text_origin_), entry.name_bytes};
  }
  [[nodiscard]] std::string_view value(const Entry& entry) const noexcept SKUA_LIFETIMEBOUND {
    return {text_.get() + (entry.begin - text_origin_) + entry.name_bytes, entry.value_bytes};
  }

  /// Adds an entry; null if it alone is too large, which empties the table (RFC 7541 §4.4). The
  /// texts are not those of this table, which may move.
  Entry* add(std::string_view name, std::string_view value);

  /// Evicts what does not fit any more, and gives memory back that cannot be used any more.
  void set_limit(std::uint32_t bytes);

  /// What it has taken from the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return text_capacity_ + entry_capacity_ * sizeof(Entry);
  }

 private:
  void evict(std::uint32_t most_bytes) noexcept;
  void clear() noexcept;
  void make_room(std::uint32_t text_bytes);
  void move_texts(std::uint32_t capacity);
  void grow_entries();
  [[nodiscard]] std::uint32_t oldest_begin() const noexcept;

  std::unique_ptr<char[]> text_;      // names and values, the oldest first, without gaps
  std::unique_ptr<Entry[]> entries_;  // a ring; the capacity is a power of two
  std::uint32_t text_capacity_ = 0;
  std::uint32_t text_end_ = 0;     // where the next text goes
  std::uint32_t text_origin_ = 0;  // what Entry::begin would be of text_[0]
  std::uint32_t entry_capacity_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t added_ = 0;
  std::uint32_t size_bytes_ = 0;
  std::uint32_t limit_bytes_;
};

}  // namespace skua::h2
