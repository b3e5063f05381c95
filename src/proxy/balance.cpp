// SPDX-License-Identifier: MIT
// In: the members of a group that may get a request. Out: the one that gets it. Nothing here waits,
// allocates or knows why a member is missing.
#include "proxy/balance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skua::proxy {
namespace {

// The finalizer of SplitMix64: each bit of the result depends on each of the number.
std::uint64_t mix(std::uint64_t number) noexcept {
  number = (number ^ (number >> 30U)) * 0xbf58476d1ce4e5b9U;
  number = (number ^ (number >> 27U)) * 0x94d049bb133111ebU;
  return number ^ (number >> 31U);
}

double unit_of(std::uint64_t number) noexcept {
  return static_cast<double>(number >> 11U) * 0x1p-53;
}

// Draws one by weight; `left_out` is an index, or beyond them.
std::size_t draw_one(std::span<const Candidate> candidates, std::size_t left_out,
                     Draw& draw) noexcept {
  double sum = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == left_out) continue;
    sum += candidates[i].weight;
    last = i;
  }
  double left = draw.unit() * sum;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i == left_out) continue;
    left -= candidates[i].weight;
    if (left < 0) return i;
  }
  return last;  // rounding
}

double busyness(const Candidate& candidate) noexcept {
  return (candidate.outstanding + candidate.failures + 1.0) / candidate.weight;
}

// The weights of next_in_turn(), as whole numbers that threads can add up.
std::int64_t whole_weight(const Candidate& candidate) noexcept {
  constexpr double unit = 1024;
  return std::max<std::int64_t>(1, std::llround(candidate.weight * unit));
}

// The logarithm makes the chance of the highest score proportional to the weight.
double score(const Candidate& candidate, std::uint64_t key) noexcept {
  const double random = unit_of(mix(key ^ candidate.member->hash));
  return -candidate.weight / std::log(random + 0x1p-54);
}

}  // namespace

std::uint64_t Draw::next() noexcept {
  state_ += 0x9e3779b97f4a7c15U;
  return mix(state_);
}

double Draw::unit() noexcept { return unit_of(next()); }

std::size_t less_busy(std::span<const Candidate> candidates, Draw& draw) noexcept {
  if (candidates.size() == 1) return 0;
  const std::size_t first = draw_one(candidates, candidates.size(), draw);
  const std::size_t second = draw_one(candidates, first, draw);
  return busyness(candidates[second]) < busyness(candidates[first]) ? second : first;
}

// Each one's credit grows by its weight, and the one with the most pays for all. Credits of threads
// that choose at the same time may be a request off, but their sum stays zero.
std::size_t next_in_turn(std::span<const Candidate> candidates) noexcept {
  std::int64_t sum = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::int64_t weight = whole_weight(candidates[i]);
    const std::int64_t credit =
        candidates[i].member->credit.fetch_add(weight, std::memory_order_relaxed) + weight;
    sum += weight;
    if (credit <= most) continue;
    most = credit;
    chosen = i;
  }
  candidates[chosen].member->credit.fetch_sub(sum, std::memory_order_relaxed);
  return chosen;
}

std::size_t nearest(std::span<const Candidate> candidates, std::uint64_t key,
                    double load) noexcept {
  double weights = 0;
  double requests = 1;  // this one
  for (const Candidate& candidate : candidates) {
    weights += candidate.weight;
    requests += candidate.outstanding;
  }
  std::size_t chosen = 0;
  double best = 0;
  bool has_room = false;  // the chosen one; the shares add up to more than all requests
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& candidate = candidates[i];
    const double share = std::ceil(load * requests * candidate.weight / weights);
    const bool is_free = candidate.outstanding + 1.0 <= share;
    if (has_room && !is_free) continue;
    const double own = score(candidate, key);
    if (has_room == is_free && own <= best) continue;
    best = own;
    chosen = i;
    has_room = is_free;
  }
  return chosen;
}

}  // namespace skua::proxy
