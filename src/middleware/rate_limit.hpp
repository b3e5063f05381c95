// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/keyed_hash.hpp"
#include "loop/clock.hpp"
#include "skua/bytes.hpp"
#include "skua/middleware.hpp"

namespace skua::middleware {

class RateTable;

/// The decision about a request, and the table of the limit that made it.
struct RateVerdict : RateDecision {
  const RateTable* table = nullptr;
};

/// A table of fixed size that limits the request rate of many keys (GCRA).
///
/// The table is 8-way set-associative, so that a lookup takes constant time. A full set evicts the
/// key whose burst is, or soonest will be, available again.
class RateTable {
 public:
  struct Settings {
    Duration interval{};  ///< between two requests of a key, on average
    std::size_t burst = 1;
    std::size_t max_keys = 1;
  };
  /// The clock must outlive the table.
  RateTable(const Settings& settings, const loop::Clock& clock);

  /// Counts one request of a key. Thread-safe.
  RateDecision ask(std::string_view key);
  /// Like ask(), but counts nothing. Thread-safe.
  [[nodiscard]] RateDecision look(std::string_view key);

  [[nodiscard]] std::size_t size_bytes() const noexcept { return slots_.size() * sizeof(Slot); }

 private:
  static constexpr std::size_t set_size = 8;
  static constexpr std::size_t shard_count = 64;

  struct Slot {
    std::uint64_t hash = 0;
    // When the whole burst is available again, in nanoseconds of the clock.
    std::int64_t full_at = std::numeric_limits<std::int64_t>::min();
  };
  struct alignas(64) Shard {
    std::mutex mutex;
  };

  RateDecision count(Slot& slot, std::uint64_t hash, std::int64_t now) const noexcept;
  RateDecision decide(std::string_view key, bool is_counted);

  crypto::KeyedHash hash_;
  const loop::Clock& clock_;
  std::int64_t interval_;
  std::int64_t tolerance_;  // the time of a whole burst
  std::vector<Slot> slots_;
  std::array<Shard, shard_count> shards_;
};

/// Ends with: std::invalid_argument if a value is out of range.
RateTable::Settings rate_settings(const RateLimitOptions& options);

/// Identifies a peer independently of its port: `192.0.2.1:50123` becomes `192.0.2.1`. An IPv6
/// address is reduced to its first 64 bits, because one customer usually owns the rest; an
/// IPv4-mapped address becomes the IPv4 address. Anything else is returned unchanged.
std::string client_key(std::string_view peer);

}  // namespace skua::middleware
