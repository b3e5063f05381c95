// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "proxy/member.hpp"
#include "skua/upstream.hpp"

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
  std::uint32_t outstanding = 0;  ///< requests; for nearest(), those without a response
  std::uint32_t failures = 0;     ///< recent ones, as so many requests; less_busy() counts them
};

// The functions below return the index of the candidate that is chosen; there is at least one.

/// Draws two candidates by weight, and returns the one that is less busy for its weight.
[[nodiscard]] std::size_t less_busy(std::span<const Candidate> candidates, Draw& draw) noexcept;

/// Returns the next one in turn: each candidate is returned as often as its weight says, and as
/// evenly as possible. Threads take turns with each other.
[[nodiscard]] std::size_t next_in_turn(std::span<const Candidate> candidates) noexcept;

/// Returns the candidate that a key belongs to (highest random weight): if one is missing, only its
/// keys go elsewhere. One that has more than `load` times its share of the outstanding requests,
/// and more than `floor`, is passed over.
[[nodiscard]] std::size_t nearest(std::span<const Candidate> candidates, std::uint64_t key,
                                  double load, std::uint32_t floor = 0) noexcept;

/// How requests are spread over members if all of them may get one. It is made once, so that no
/// choice looks at each member.
class Spread final {
 public:
  using Owners = std::span<const std::shared_ptr<Member>>;

  /// The number of different keys, see owner(). The least bits of a hash are its key.
  static constexpr std::uint64_t keys = 1U << 16U;

  Spread(Owners members, Balance by);
  Spread(const Spread&) = delete;
  Spread& operator=(const Spread&) = delete;
  ~Spread() = default;

  /// Draws one by weight.
  [[nodiscard]] std::size_t draw(Draw& draw) const noexcept;
  /// Returns whose turn it is: each one's as often as its weight says.
  [[nodiscard]] std::size_t at_turn(std::uint64_t turn) const noexcept;
  /// Returns the one that a key belongs to, like nearest() of all `members`, and remembers it.
  [[nodiscard]] std::size_t owner(Owners members, std::uint64_t key) const noexcept;
  [[nodiscard]] double weights() const noexcept { return weights_; }

 private:
  /// The places of the alias method (Walker): one draws a place, then its owner or its other.
  struct Place {
    double own = 1;  // the chance of the place's owner
    std::uint32_t other = 0;
  };

  void make_places(Owners members);
  void make_turns(Owners members);

  const std::size_t count_;
  double weights_ = 0;
  bool is_even_ = true;                 // all weights are equal; the next two are empty
  std::vector<Place> places_{};         // of draw()
  std::vector<std::uint32_t> turns_{};  // of at_turn(), a round
  // By keys: the index of the owner, and 1; 0: not known yet.
  mutable std::vector<std::atomic<std::uint32_t>> owners_{};
};

}  // namespace skua::proxy
