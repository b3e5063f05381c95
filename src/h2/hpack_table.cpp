// SPDX-License-Identifier: MIT
// In: entries. Out: the same entries, evicted in order of arrival. All texts lie in one buffer:
//
//   | evicted | oldest name, value | ... | latest name, value | free        |
//   ^ text_[0], origin             ^ Entry::begin - origin    ^ text_end_   ^ text_capacity_
//
// If the buffer is full, the live texts move to its front or to a larger buffer. Since every entry
// is charged 32 bytes besides its texts, even a full table has room for that.
#include "h2/hpack_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace skua::h2 {
namespace {

constexpr std::uint32_t min_text_bytes = 128;
constexpr std::uint32_t min_entries = 4;

std::uint32_t charge_of(const HpackTable::Entry& entry) noexcept {
  return entry.name_bytes + entry.value_bytes + entry_charge;
}

}  // namespace

std::uint32_t HpackTable::oldest_begin() const noexcept {
  return count_ == 0 ? text_end_ : entry(count_ - 1).begin - text_origin_;
}

void HpackTable::evict(std::uint32_t max_bytes) noexcept {
  while (size_bytes_ > max_bytes) {
    size_bytes_ -= charge_of(entry(count_ - 1));
    --count_;
  }
  if (count_ == 0) clear();
}

void HpackTable::clear() noexcept {
  count_ = size_bytes_ = 0;
  text_origin_ += text_end_;
  text_end_ = 0;
}

HpackTable::Entry* HpackTable::add(std::string_view name, std::string_view value) {
  const std::size_t charge = name.size() + value.size() + entry_charge;
  if (charge > limit_bytes_) {
    clear();
    return nullptr;
  }
  const auto bytes = static_cast<std::uint32_t>(charge);
  evict(limit_bytes_ - bytes);
  if (count_ == entry_capacity_) grow_entries();
  const std::uint32_t text_bytes = bytes - entry_charge;
  if (text_capacity_ - text_end_ < text_bytes) make_room(text_bytes);

  Entry& entry = entries_[added_ & (entry_capacity_ - 1)];
  entry = {.begin = text_origin_ + text_end_,
           .name_bytes = static_cast<std::uint32_t>(name.size()),
           .value_bytes = static_cast<std::uint32_t>(value.size())};
  char* const text = text_.get() + text_end_;
  std::copy_n(name.data(), name.size(), text);
  std::copy_n(value.data(), value.size(), text + name.size());
  text_end_ += text_bytes;
  size_bytes_ += bytes;
  ++added_;
  ++count_;
  return &entry;
}

void HpackTable::make_room(std::uint32_t text_bytes) {
  const std::uint32_t live = text_end_ - oldest_begin();
  const std::uint32_t needed = live + text_bytes;  // below the limit
  std::uint32_t capacity = text_capacity_;
  // Keep half of it free, so that texts are not moved again and again, but do not exceed the limit.
  if (live > capacity / 2 || needed > capacity) {
    capacity = std::max({std::bit_ceil(needed), 2 * capacity, min_text_bytes});
    capacity = std::max(std::min(capacity, limit_bytes_), text_capacity_);
  }
  move_texts(capacity);
}

void HpackTable::move_texts(std::uint32_t capacity) {
  const std::uint32_t begin = oldest_begin();
  const std::uint32_t live = text_end_ - begin;
  if (capacity == text_capacity_) {
    std::memmove(text_.get(), text_.get() + begin, live);
  } else {
    auto moved = std::make_unique_for_overwrite<char[]>(capacity);
    std::copy_n(text_.get() + begin, live, moved.get());
    text_ = std::move(moved);
    text_capacity_ = capacity;
  }
  text_origin_ += begin;
  text_end_ = live;
}

void HpackTable::grow_entries() {
  const std::uint32_t capacity = std::max(2 * entry_capacity_, min_entries);
  auto grown = std::make_unique<Entry[]>(capacity);
  for (std::uint32_t age = 0; age < count_; ++age) {
    grown[(added_ - 1 - age) & (capacity - 1)] = entry(age);
  }
  entries_ = std::move(grown);
  entry_capacity_ = capacity;
}

void HpackTable::set_limit(std::uint32_t bytes) {
  limit_bytes_ = bytes;
  evict(bytes);
  if (count_ == 0) {
    text_.reset();
    entries_.reset();
    text_capacity_ = entry_capacity_ = 0;
  } else if (text_capacity_ > bytes) {
    move_texts(bytes);
  }
}

}  // namespace skua::h2
