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
double score(const Member& member, double weight, std::uint64_t key) noexcept {
  const double random = unit_of(mix(key ^ member.hash));
  return -weight / std::log(random + 0x1p-54);
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

std::size_t nearest(std::span<const Candidate> candidates, std::uint64_t key, double load,
                    std::uint32_t floor) noexcept {
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
    const double share =
        std::max<double>(floor, std::ceil(load * requests * candidate.weight / weights));
    const bool is_free = candidate.outstanding + 1.0 <= share;
    if (has_room && !is_free) continue;
    const double own = score(*candidate.member, candidate.weight, key);
    if (has_room == is_free && own <= best) continue;
    best = own;
    chosen = i;
    has_room = is_free;
  }
  return chosen;
}

// Spread -----------------------------------------------------------------------------------------

Spread::Spread(Owners members, Balance by) : count_(members.size()) {
  for (const std::shared_ptr<Member>& member : members) {
    weights_ += member->weight;
    if (member->weight != members.front()->weight) is_even_ = false;
  }
  if (by == Balance::Hash) owners_ = std::vector<std::atomic<std::uint32_t>>(keys);
  if (is_even_) return;
  if (by == Balance::RoundRobin) {
    make_turns(members);
  } else {
    make_places(members);
  }
}

// Vose's way: a place whose owner has less than an equal share gets the rest from one that has
// more.
void Spread::make_places(Owners members) {
  places_.resize(count_);
  std::vector<double> left(count_);  // in equal shares
  std::vector<std::uint32_t> poor;
  std::vector<std::uint32_t> rich;
  for (std::uint32_t i = 0; i < count_; ++i) {
    left[i] = members[i]->weight * static_cast<double>(count_) / weights_;
    (left[i] < 1 ? poor : rich).push_back(i);
  }
  while (!poor.empty() && !rich.empty()) {
    const std::uint32_t place = poor.back();
    const std::uint32_t giver = rich.back();
    poor.pop_back();
    places_[place] = {.own = left[place], .other = giver};
    left[giver] -= 1 - left[place];
    if (left[giver] >= 1) continue;
    rich.pop_back();
    poor.push_back(giver);
  }
}

// A round has the turns of each member at equal distances. It has about 16 turns a member, which
// bounds how well the weights are met.
void Spread::make_turns(Owners members) {
  constexpr double turns_each = 16;
  struct Turn {
    double at = 0;  // in the round
    std::uint32_t index = 0;
  };
  std::vector<Turn> turns;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const double share = members[i]->weight / weights_;
    const double count =
        std::max(1.0, std::round(share * turns_each * static_cast<double>(count_)));
    for (double k = 0.5; k < count; ++k) turns.push_back({.at = k / count, .index = i});
  }
  // Not std::stable_sort: libstdc++ implements it with a function that Clang reports as deprecated.
  std::ranges::sort(turns, [](const Turn& a, const Turn& b) {
    return a.at < b.at || (a.at == b.at && a.index < b.index);
  });
  turns_.reserve(turns.size());
  for (const Turn& turn : turns) turns_.push_back(turn.index);
}

std::size_t Spread::draw(Draw& draw) const noexcept {
  const auto drawn = static_cast<std::size_t>(draw.unit() * static_cast<double>(count_));
  const std::size_t place = std::min(drawn, count_ - 1);
  if (places_.empty() || draw.unit() < places_[place].own) return place;
  return places_[place].other;
}

std::size_t Spread::at_turn(std::uint64_t turn) const noexcept {
  return turns_.empty() ? turn % count_ : turns_[turn % turns_.size()];
}

std::size_t Spread::owner(Owners members, std::uint64_t key) const noexcept {
  std::atomic<std::uint32_t>& known = owners_[key % keys];
  const std::uint32_t found = known.load(std::memory_order_relaxed);
  if (found != 0) return found - 1;
  std::uint32_t chosen = 0;
  double best = -1;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const double own = score(*members[i], members[i]->weight, key % keys);
    if (own <= best) continue;
    best = own;
    chosen = i;
  }
  known.store(chosen + 1, std::memory_order_relaxed);  // all threads find the same
  return chosen;
}

}  // namespace skua::proxy
