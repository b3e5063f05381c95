// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "client/outcome.hpp"
#include "loop/clock.hpp"
#include "skua/address.hpp"
#include "skua/error.hpp"

namespace skua::proxy {

using client::Outcome;
using client::outcome_count;
using client::outcome_of;

/// Reports whether it speaks against the member, so that too many of them eject it.
[[nodiscard]] bool is_failure(Outcome outcome) noexcept;

/// One server of a group, as all threads see it. Numbers that only tell are relaxed atomics.
struct Member final {
  Member(std::size_t target, std::string text, std::optional<Address> at, unsigned times);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() = default;

  [[nodiscard]] loop::Instant ejection_end() const noexcept {
    return loop::Instant(Duration(ejected_until.load(std::memory_order_relaxed)));
  }
  [[nodiscard]] bool is_ejected(loop::Instant now) const noexcept { return now < ejection_end(); }
  /// Notes a failure that speaks against it by itself; returns how many there were in a row.
  std::uint32_t fail(loop::Instant now) noexcept;
  /// Returns the requests that recent failures weigh as much as: one that refuses requests at once
  /// has none outstanding, and would otherwise look like the best choice.
  [[nodiscard]] std::uint32_t load_of_failures(loop::Instant now) const noexcept;
  /// Reports whether it was this machine that lacked something: memory, a descriptor, or a port,
  /// if the server was reached before and so has an address.
  [[nodiscard]] bool is_our_own(Error error) const noexcept;
  /// Returns its weight while it comes back. It is in service since `back_since`, or since it was
  /// last ejected.
  [[nodiscard]] double weight_at(loop::Instant now, Duration slow_start) const noexcept;

  const std::size_t target;              // its index in UpstreamOptions::targets
  const std::string name;                // `10.0.0.1:3000`
  const std::optional<Address> address;  // of UpstreamTarget::each_address
  const unsigned weight;
  const std::uint64_t hash;  // of the name

  std::atomic<std::uint32_t> outstanding{0};
  std::atomic<std::uint32_t> unanswered{0};  // the part without a response; Balance::Hash only
  std::atomic<std::int64_t> credit{0};       // of next_in_turn()
  std::atomic<bool> is_down{false};          // by checks
  std::atomic<bool> is_new{false};           // not checked yet, as it should be
  std::atomic<bool> passes_checks{false};    // the last one
  std::atomic<std::uint32_t> failures{0};    // in a row, without those of the status
  std::atomic<Duration::rep> last_failure{long_ago};
  std::atomic<Duration::rep> ejected_until{long_ago};
  std::atomic<Duration::rep> back_since{long_ago};

  // Guarded by the group's mutex.
  std::uint32_t ejections_in_a_row = 0;
  std::uint32_t passed_checks_in_a_row = 0;
  std::uint32_t failed_checks_in_a_row = 0;
  std::uint64_t tally_window = 0;  // that the next are of
  std::uint64_t tally_base = 0;    // answers before it
  std::uint64_t unavailable = 0;   // answers in it that say so

  // Told only.
  std::array<std::atomic<std::uint64_t>, outcome_count> outcomes{};
  std::atomic<std::uint64_t> retries{0};  // after a request to this one
  std::atomic<std::uint64_t> ejections{0};
  std::atomic<std::uint64_t> passed_checks{0};
  std::atomic<std::uint64_t> failed_checks{0};

 private:
  // Far from the ends of the range, so that differences do not overflow.
  static constexpr Duration::rep long_ago = INT64_MIN / 4;
};

}  // namespace skua::proxy
