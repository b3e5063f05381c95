// SPDX-License-Identifier: MIT
// In: requests that need a server, and how they end. Out: a member for each, and who is left out.
// Choosing takes no lock; what happens rarely (a member comes, goes, is ejected or checked) does.
#include "proxy/group.hpp"

#include "async/guarded.hpp"
#include "base/text/number_text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/ascii.hpp"
#include "http/uri/authority.hpp"

namespace skua::proxy {
namespace {

using State = UpstreamTargetStatus::State;

// How statuses of members are compared: for so long, from so many answers on, and by how much the
// shares that are failures have to differ, which chance does not explain.
constexpr Duration comparison_time = 10s;
constexpr std::uint64_t least_answers = 30;
constexpr double least_difference = 0.5;

[[noreturn]] void refuse_option(const UpstreamOptions& options, const char* why) {
  throw std::invalid_argument("upstream " + options.name + ": " + why);
}

std::vector<ServerUrl> read_servers(const UpstreamOptions& options) {
  if (options.targets.empty()) refuse_option(options, "it has no target");
  std::vector<ServerUrl> servers;
  std::unordered_set<std::string> names;
  for (const UpstreamTarget& target : options.targets) {
    ServerUrl server = ServerUrl::parse(target.url);
    if (!names.insert(server.name()).second) refuse(target.url, "the server is there twice");
    if (!servers.empty() && server.base != servers.front().base) {
      refuse(target.url, "its path differs from that of " + servers.front().text);
    }
    if (target.weight == 0) refuse(target.url, "its weight is zero");
    servers.push_back(std::move(server));
  }
  return servers;
}

UpstreamOptions checked(UpstreamOptions options) {
  const UpstreamHealth& health = options.health;
  if (!health.path.empty()) {
    if (!health.path.starts_with('/')) refuse_option(options, "health.path has to be a path");
    if (health.interval <= Duration::zero()) refuse_option(options, "health.interval is zero");
    if (health.timeout <= Duration::zero()) refuse_option(options, "health.timeout is zero");
    if (health.timeout > health.interval) {
      refuse_option(options, "health.timeout is longer than health.interval");
    }
    if (!ascii::is_token_text(health.method) || health.method == "CONNECT") {
      refuse_option(options, "health.method is not a method that asks for a path");
    }
    if (health.method == "HEAD" && !health.content.empty()) {
      refuse_option(options, "health.content is never there with HEAD");
    }
    if (!health.host.empty() && !http::is_authority(health.host)) {
      refuse_option(options, "health.host is not a host");
    }
  }
  if (options.resolve_interval <= Duration::zero()) {
    refuse_option(options, "resolve_interval is zero");
  }
  if (!(options.balance.hash_load >= 1)) refuse_option(options, "balance.hash_load is below 1");
  const auto is_share = [](double share) { return share >= 0 && share <= 1; };
  if (!is_share(options.ejection.max_share) || !is_share(options.mirror.share)) {
    refuse_option(options, "a share is not from 0 to 1");
  }
  if (!(options.retries.budget >= 0 && options.retries.budget <= 100)) {
    refuse_option(options, "retries.budget is not from 0 to 100");
  }
  if (options.retries.attempts == 0) refuse_option(options, "retries.attempts is zero");
  if (options.ejection.failures != 0 && options.ejection.time <= Duration::zero()) {
    refuse_option(options, "ejection.time is zero");
  }
  if (options.limits.queue_time < Duration::zero() || options.limits.retry_after.count() < 0 ||
      options.balance.slow_start < Duration::zero()) {
    refuse_option(options, "a time is below 0");
  }
  return options;
}

std::string seconds_of(Duration time) {
  return base::short_text(std::chrono::duration<double>(time).count(), 3) + " s";
}

// Counts one more, unless there are as many as the limit.
template <class Count>
bool take_place(std::atomic<Count>& outstanding, std::size_t limit) noexcept {
  Count before = outstanding.load();
  while (before < limit) {
    if (outstanding.compare_exchange_weak(before, before + 1)) return true;
  }
  return false;
}

}  // namespace

Group::Group(const UpstreamOptions& options)
    : options_(checked(options)),
      servers_(read_servers(options_)),
      needs_upkeep_(!options_.health.path.empty() ||
                    std::ranges::any_of(options_.targets, &UpstreamTarget::each_address)),
      budget_(options_.retries.budget, options_.retries.burst),
      line_(options_.limits.queued_requests) {
  Members::List members;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    members.push_back(
        std::make_shared<Member>(i, servers_[i].name(), std::nullopt, options_.targets[i].weight));
  }
  members_ = std::make_shared<const Members>(std::move(members), options_.balance.by);
}

// Members ----------------------------------------------------------------------------------------

std::shared_ptr<const Members> Group::members() const {
  const std::lock_guard lock(mutex_);
  return members_;
}

void Group::replace(std::size_t target, const std::vector<Address>& addresses, loop::Instant now) {
  {
    const std::lock_guard lock(mutex_);
    Members::List changed;
    std::vector<std::shared_ptr<Member>> old;
    auto next = members_->begin();
    for (; next != members_->end() && (*next)->target < target; ++next) changed.push_back(*next);
    for (; next != members_->end() && (*next)->target == target; ++next) old.push_back(*next);
    bool is_same = old.size() == addresses.size();
    for (const Address& address : addresses) {
      const auto known = std::ranges::find(old, address, &Member::address);
      if (known != old.end()) {
        changed.push_back(*known);
        old.erase(known);
        continue;
      }
      is_same = false;
      changed.push_back(make_member(target, address, now));
    }
    if (is_same) return;
    changed.insert(changed.end(), next, members_->end());
    std::erase_if(leaving_, [](const auto& member) { return member.expired(); });
    leaving_.insert(leaving_.end(), old.begin(), old.end());
    members_ = std::make_shared<const Members>(std::move(changed), options_.balance.by);
    generation_.fetch_add(1, std::memory_order_release);
  }
  line_.call_all();
}

std::shared_ptr<Member> Group::make_member(std::size_t target, const Address& address,
                                           loop::Instant now) const {
  auto made = std::make_shared<Member>(target, servers_[target].name() + "/" + address.to_string(),
                                       address, options_.targets[target].weight);
  made->back_since.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  made->is_new.store(!options_.health.path.empty(), std::memory_order_relaxed);
  return made;
}

// Requests ---------------------------------------------------------------------------------------

Group::Tier Group::tier_of(const Member& member, loop::Instant now) noexcept {
  if (member.is_down.load(std::memory_order_relaxed)) return Tier::Down;
  const bool is_unsure = member.is_new.load(std::memory_order_relaxed) || member.is_ejected(now);
  return is_unsure ? Tier::Ejected : Tier::Usable;
}

// Choices without looking at all members. They find nothing if few members are usable, which is
// rare; then all are looked at.

constexpr std::size_t few_members = 8;  // which are looked at anyway
constexpr int most_draws = 16;

bool Group::may_get(const Member& member, const Wish& wish) const noexcept {
  if (tier_of(member, wish.now) != Tier::Usable) return false;
  if (std::ranges::find(wish.tried, &member) != wish.tried.end()) return false;
  const std::size_t limit = options_.limits.target_requests;
  return limit == 0 || member.outstanding.load() < limit;
}

// One in a slow start gets fewer requests by being passed over.
std::optional<std::size_t> Group::draw_one(const Members& members, const Wish& wish,
                                           Draw& draw) const noexcept {
  const Duration slow_start = options_.balance.slow_start;
  for (int i = 0; i < most_draws; ++i) {
    const std::size_t index = members.spread().draw(draw);
    const Member& member = *members[index];
    if (!may_get(member, wish)) continue;
    if (slow_start <= Duration::zero()) return index;
    if (draw.unit() * member.weight < member.weight_at(wish.now, slow_start)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> Group::pick_owner(const Members& members,
                                             const Wish& wish) const noexcept {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): only a wish with a key has an owner
  const std::size_t index = members.spread().owner(members.list(), *wish.key);
  const Member& member = *members[index];
  if (!may_get(member, wish)) return std::nullopt;
  const UpstreamBalance& balance = options_.balance;
  const double own = member.unanswered.load(std::memory_order_relaxed) + 1.0;
  if (own <= balance.hash_floor) return index;
  const double all = static_cast<double>(unanswered_.load(std::memory_order_relaxed)) + 1.0;
  const double share =
      std::ceil(balance.hash_load * all * member.weight / members.spread().weights());
  return own <= share ? std::optional(index) : std::nullopt;
}

std::optional<std::size_t> Group::pick_by_draws(const Members& members, const Wish& wish,
                                                Draw& draw) noexcept {
  if (members.size() <= few_members) return std::nullopt;
  const Balance by = options_.balance.by;
  if (by == Balance::Hash && wish.key) return pick_owner(members, wish);
  if (by == Balance::RoundRobin) {
    const Duration slow_start = options_.balance.slow_start;
    for (int i = 0; i < most_draws; ++i) {
      const std::uint64_t turn = turn_.fetch_add(1, std::memory_order_relaxed);
      const std::size_t index = members.spread().at_turn(turn);
      const Member& member = *members[index];
      if (!may_get(member, wish)) continue;
      if (slow_start <= Duration::zero()) return index;
      if (draw.unit() * member.weight < member.weight_at(wish.now, slow_start)) return index;
    }
    return std::nullopt;
  }
  const std::optional<std::size_t> first = draw_one(members, wish, draw);
  const std::optional<std::size_t> second = first ? draw_one(members, wish, draw) : std::nullopt;
  if (!second) return std::nullopt;
  const auto busyness = [&](const Member& member) {
    const double requests = member.outstanding.load(std::memory_order_relaxed) + 1.0;
    return (requests + member.load_of_failures(wish.now)) / member.weight;
  };
  return busyness(*members[*second]) < busyness(*members[*first]) ? second : first;
}

// If no member is usable that was not tried, those that are ejected are candidates, and then those
// that are down: both may be wrong, and a part of a service is better than none.
void Group::gather(const Members& members, const Wish& wish, std::vector<Candidate>& candidates,
                   bool& is_busy) const {
  candidates.clear();
  const Duration slow_start = options_.balance.slow_start;
  const std::size_t limit = options_.limits.target_requests;
  const bool has_key = options_.balance.by == Balance::Hash && wish.key;
  const bool may_be_ejected = options_.panics && !wish.only_usable;
  Tier tier = may_be_ejected ? Tier::Down : Tier::Usable;  // of the candidates
  for (std::size_t i = 0; i < members.size(); ++i) {
    Member& member = *members[i];
    const Tier own = tier_of(member, wish.now);
    if (own > tier) continue;
    if (std::ranges::find(wish.tried, &member) != wish.tried.end()) continue;
    if (own < tier) {
      tier = own;
      candidates.clear();
      is_busy = false;
    }
    // See choose().
    const std::uint32_t outstanding =
        member.outstanding.load(limit != 0 ? std::memory_order_seq_cst : std::memory_order_relaxed);
    if (limit != 0 && outstanding >= limit) {
      is_busy = true;
      continue;
    }
    candidates.push_back(
        {.member = &member,
         .index = i,
         .weight =
             has_key ? static_cast<double>(member.weight) : member.weight_at(wish.now, slow_start),
         .outstanding = has_key ? member.unanswered.load(std::memory_order_relaxed) : outstanding,
         .failures = member.load_of_failures(wish.now)});
  }
}

std::size_t Group::pick(std::span<const Candidate> candidates, const Wish& wish,
                        Draw& draw) const noexcept {
  switch (options_.balance.by) {
    case Balance::RoundRobin: return next_in_turn(candidates);
    case Balance::Hash:
      if (wish.key) {
        const UpstreamBalance& balance = options_.balance;
        return nearest(candidates, *wish.key % Spread::keys, balance.hash_load, balance.hash_floor);
      }
      break;
    case Balance::LeastOutstanding: break;
  }
  return less_busy(candidates, draw);
}

// The counts of limits and the size of the line are in one order, so that of a request that ends
// and one that begins to wait, at least one sees the other. A refusal calls nobody: the one that it
// would call may be the one that was refused. If it gives the place in the group back, the member
// that was lost to another request calls when that ends.
Group::Choice Group::choose(const Members& members, const Wish& wish, Draw& draw,
                            std::vector<Candidate>& candidates) {
  const UpstreamLimits& limits = options_.limits;
  const bool is_counted = limits.group_requests != 0;
  bool has_place = false;
  while (true) {
    std::optional<std::size_t> index = pick_by_draws(members, wish, draw);
    if (!index) {
      bool is_busy = false;
      gather(members, wish, candidates, is_busy);
      if (candidates.empty()) {
        if (has_place) outstanding_.fetch_sub(1);
        return {.refusal = is_busy ? Refusal::Busy : Refusal::NoTarget};
      }
      index = candidates[pick(candidates, wish, draw)].index;
    }
    if (!std::exchange(has_place, true)) {
      if (!is_counted) {
        outstanding_.fetch_add(1, std::memory_order_relaxed);
      } else if (!take_place(outstanding_, limits.group_requests)) {
        return {.refusal = Refusal::Busy};
      }
    }
    Member& chosen = *members[*index];
    if (limits.target_requests == 0) {
      chosen.outstanding.fetch_add(1, std::memory_order_relaxed);
    } else if (!take_place(chosen.outstanding, limits.target_requests)) {
      continue;  // another thread was faster
    }
    begun_.fetch_add(1, std::memory_order_relaxed);
    if (options_.balance.by == Balance::Hash) {
      chosen.unanswered.fetch_add(1, std::memory_order_relaxed);
      unanswered_.fetch_add(1, std::memory_order_relaxed);
    }
    return {.index = *index};
  }
}

void Group::note_response(Member& member) noexcept {
  if (options_.balance.by != Balance::Hash) return;
  member.unanswered.fetch_sub(1, std::memory_order_relaxed);
  unanswered_.fetch_sub(1, std::memory_order_relaxed);
}

void Group::release(Member& member, bool has_response) noexcept {
  if (!has_response) note_response(member);
  member.outstanding.fetch_sub(1);
  outstanding_.fetch_sub(1);
  line_.call_first();
}

loop::Instant Group::next_return(const Members& members, loop::Instant now) const noexcept {
  if (now.time_since_epoch().count() >= last_return_.load()) return loop::Instant::max();
  loop::Instant next = loop::Instant::max();
  for (const std::shared_ptr<Member>& member : members) {
    if (member->is_ejected(now)) next = std::min(next, member->ejection_end());
  }
  return next;
}

void Group::judge(Member& member, Outcome outcome, loop::Instant now, bool is_to_blame) noexcept {
  member.outcomes[static_cast<std::size_t>(outcome)].fetch_add(1, std::memory_order_relaxed);
  if (!is_failure(outcome)) {
    const bool is_success = outcome == Outcome::Answered || outcome == Outcome::ServerError;
    // Usually zero already: then no other thread has to read it again.
    if (is_success && member.failures.load(std::memory_order_relaxed) != 0) {
      member.failures.store(0, std::memory_order_relaxed);
    }
    return;
  }
  if (!is_to_blame) return;
  const unsigned most = options_.ejection.failures;
  if (outcome == Outcome::Unavailable) {
    if (most == 0 || !options_.ejection.on_status || !speaks_against(member, now)) return;
  } else {
    const std::uint32_t failures = member.fail(now);
    if (most == 0 || failures < most) return;
  }
  try {
    const std::optional<Duration> time = eject(member, now);
    if (time) log_ejection(member, *time, outcome);
  } catch (const std::exception&) {  // no memory for the text
    return;
  }
}

void Group::log_ejection(const Member& member, Duration time, Outcome outcome) const {
  const std::string last =
      outcome == Outcome::Unavailable
          ? "it answers with 502, 503 or 504 far more often than the others"
          : "too many failed in a row, the last with " + std::string(client::name(outcome));
  log(LogLevel::Warning, member.name + " gets no requests for " + seconds_of(time) + ": " + last);
}

// A status may be about what was asked for, and clients choose that: only if the other members do
// far better, it is about this one. Checks know better still.
bool Group::speaks_against(Member& member, loop::Instant now) {
  if (member.passes_checks.load(std::memory_order_relaxed)) return false;
  const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
  const auto count = [&member](Outcome outcome) {
    return member.outcomes[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
  };
  const std::uint64_t answers =
      count(Outcome::Answered) + count(Outcome::ServerError) + count(Outcome::Unavailable);
  const std::lock_guard lock(mutex_);
  if (now >= window_end_) {
    ++window_;
    window_end_ = later(now, comparison_time);
    window_base_ = begun;
    window_unavailable_ = 0;
  }
  if (member.tally_window != window_) {
    member.tally_window = window_;
    member.tally_base = answers - 1;
    member.unavailable = 0;
  }
  ++window_unavailable_;
  ++member.unavailable;
  const std::uint64_t own = answers - member.tally_base;
  const std::uint64_t all = begun - window_base_;
  if (member.unavailable < options_.ejection.failures || own < least_answers) return false;
  if (all < own + least_answers) return false;
  const double share = static_cast<double>(member.unavailable) / static_cast<double>(own);
  const double share_of_others = static_cast<double>(window_unavailable_ - member.unavailable) /
                                 static_cast<double>(all - own);
  return share >= share_of_others + least_difference;
}

// Returns how long; nullopt if it is already, or too many others are.
std::optional<Duration> Group::eject(Member& member, loop::Instant now) {
  const UpstreamEjection& ejection = options_.ejection;
  const std::lock_guard lock(mutex_);
  if (member.is_ejected(now)) return std::nullopt;
  const auto out =
      std::ranges::count_if(*members_, [now](const auto& other) { return other->is_ejected(now); });
  const double room = ejection.max_share * static_cast<double>(members_->size());
  if (static_cast<double>(out + 1) > room) return std::nullopt;
  const Duration::rep last_end = member.ejected_until.load(std::memory_order_relaxed);
  const Duration since = now - loop::Instant(Duration(last_end));
  if (since > ejection.max_time) member.ejections_in_a_row = 0;
  const double factor = std::ldexp(1, static_cast<int>(std::min(member.ejections_in_a_row, 30U)));
  const auto wanted =
      std::chrono::duration<double, std::nano>(static_cast<double>(ejection.time.count()) * factor);
  const Duration time = wanted < ejection.max_time
                            ? Duration(static_cast<Duration::rep>(wanted.count()))
                            : std::max(ejection.max_time, ejection.time);
  ++member.ejections_in_a_row;
  member.passed_checks_in_a_row = 0;  // those that follow end it
  // The first request after it decides.
  if (member.failures.load(std::memory_order_relaxed) != 0) {
    member.failures.store(ejection.failures - 1, std::memory_order_relaxed);
  }
  const Duration::rep end = later(now, time).time_since_epoch().count();
  last_return_.store(std::max(last_return_.load(), end));
  member.ejected_until.store(end, std::memory_order_relaxed);
  member.ejections.fetch_add(1, std::memory_order_relaxed);
  return time;
}

// Checks -----------------------------------------------------------------------------------------

void Group::note_check(Member& member, std::string_view problem, loop::Instant now) {
  const bool is_passed = problem.empty();
  (is_passed ? member.passed_checks : member.failed_checks).fetch_add(1, std::memory_order_relaxed);
  member.passes_checks.store(is_passed, std::memory_order_relaxed);
  const bool is_down = member.is_down.load(std::memory_order_relaxed);
  const bool is_ejected = member.is_ejected(now);
  const bool is_first = member.is_new.exchange(false, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    std::uint32_t& passed = member.passed_checks_in_a_row;
    std::uint32_t& failed = member.failed_checks_in_a_row;
    passed = is_passed ? passed + 1 : 0;
    failed = is_passed ? 0 : failed + 1;
    const bool is_left_out = is_down || is_ejected;
    if (!is_first && (is_passed ? !is_left_out || passed < options_.health.rise
                                : is_down || failed < options_.health.fall)) {
      return;
    }
    if (is_ejected && is_passed) {
      member.ejected_until.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
  }
  if (is_passed) {
    member.failures.store(0, std::memory_order_relaxed);
    member.back_since.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    member.is_down.store(false, std::memory_order_relaxed);
    line_.call_all();
    log(LogLevel::Info, member.name + " is up: its checks passed");
    return;
  }
  member.is_down.store(true, std::memory_order_relaxed);
  log(LogLevel::Warning, member.name + " is down: " + std::string(problem));
}

void Group::log(LogLevel level, std::string_view text) const noexcept {
  if (!options_.log) return;
  async::guarded(
      [&] { options_.log(level, "upstream " + options_.name + ": " + std::string(text)); });
}

// For people -------------------------------------------------------------------------------------

std::vector<Group::Seen> Group::look(loop::Instant now) const {
  const std::lock_guard lock(mutex_);
  std::vector<Seen> seen;
  for (const std::shared_ptr<Member>& member : *members_) {
    const bool is_new = member->is_new.load(std::memory_order_relaxed);
    const State state = is_new || member->is_down.load(std::memory_order_relaxed) ? State::Down
                        : member->is_ejected(now)                                 ? State::Ejected
                                                                                  : State::Up;
    seen.push_back({member, state});
  }
  for (const std::weak_ptr<const Member>& left : leaving_) {
    std::shared_ptr<const Member> member = left.lock();
    if (member && member->outstanding.load() != 0) {
      seen.push_back({std::move(member), State::Draining});
    }
  }
  return seen;
}

}  // namespace skua::proxy
