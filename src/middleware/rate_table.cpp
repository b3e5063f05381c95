// SPDX-License-Identifier: MIT
// In: a key and the time. Out: whether the request is allowed. The generic cell rate algorithm:
// each key stores the time at which its whole burst is available again. A request moves that time
// by one interval, and is refused if it would move further ahead than a whole burst.
#include "middleware/rate_table.hpp"

#include <algorithm>
#include <bit>

namespace skua::middleware {

RateTable::RateTable(const Settings& settings, const loop::Clock& clock)
    : clock_(clock),
      interval_(settings.interval.count()),
      tolerance_(interval_ * static_cast<std::int64_t>(settings.burst)),
      slots_(std::bit_ceil((settings.max_keys + set_size - 1) / set_size) * set_size) {}

RateVerdict RateTable::ask(std::string_view key) {
  const std::uint64_t hash = hash_(key);
  const std::size_t set = hash & (slots_.size() / set_size - 1);
  const std::int64_t now = clock_.now().time_since_epoch().count();
  const std::lock_guard lock(shards_[set % shard_count].mutex);
  const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(set * set_size);
  const auto end = begin + set_size;
  auto slot = std::find_if(begin, end, [hash](const Slot& s) { return s.hash == hash; });
  if (slot == end) {
    slot = std::min_element(begin, end,
                            [](const Slot& a, const Slot& b) { return a.whole_at < b.whole_at; });
    slot->whole_at = now;
  }
  return count(*slot, hash, now);
}

RateVerdict RateTable::count(Slot& slot, std::uint64_t hash, std::int64_t now) const noexcept {
  const std::int64_t whole_at = std::max(slot.whole_at, now) + interval_;
  const std::int64_t used = whole_at - now;
  if (used > tolerance_) {
    return {.table = this, .is_allowed = false, .wait = Duration(used - tolerance_)};
  }
  slot = {.hash = hash, .whole_at = whole_at};
  return {.table = this,
          .remaining = static_cast<std::size_t>((tolerance_ - used) / interval_),
          .wait = Duration(used)};
}

}  // namespace skua::middleware
