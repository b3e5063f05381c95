// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proxy/member.hpp"

namespace skua::proxy {

/// A sequence of random numbers that nobody needs to be unable to guess (SplitMix64).
class Draw final {
 public:
  explicit Draw(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept;
  /// Returns a number from 0 up to, but not including, 1.
  double unit() noexcept;

 private:
  std::uint64_t state_;
};

/// A member that may get a request.
struct Candidate {
  Member* member = nullptr;
  std::size_t index = 0;          ///< among the members
  double weight = 1;              ///< above zero
  std::uint32_t outstanding = 0;  ///< requests
  std::uint32_t failures = 0;     ///< recent ones, as so many requests; less_busy() counts them
};

// The functions below return the index of the candidate that is chosen; there is at least one.

/// Draws two candidates by weight, and returns the one that is less busy for its weight.
[[nodiscard]] std::size_t less_busy(std::span<const Candidate> candidates, Draw& draw) noexcept;

/// Returns the next one in turn: each candidate is returned as often as its weight says, and as
/// evenly as possible. Threads take turns with each other.
[[nodiscard]] std::size_t next_in_turn(std::span<const Candidate> candidates) noexcept;

/// Returns the candidate that a key belongs to (highest random weight): if one is missing, only its
/// keys go elsewhere. One that has more than `load` times its share of the outstanding requests is
/// passed over.
[[nodiscard]] std::size_t nearest(std::span<const Candidate> candidates, std::uint64_t key,
                                  double load) noexcept;

}  // namespace skua::proxy
