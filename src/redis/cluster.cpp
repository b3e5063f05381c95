// SPDX-License-Identifier: MIT
// In: commands. Out: their results, wherever their slots are by then. The map of slots is a guess
// that redirections correct at once, and refresh() as a whole soon after.
#include "redis/cluster.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "crypto/random.hpp"
#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "net/problem.hpp"
#include "redis/backoff.hpp"
#include "redis/problem.hpp"
#include "resp/command_rules.hpp"

namespace skua::redis {
namespace {

constexpr Duration refresh_interval = 100ms;
constexpr Duration settle_pause = 20ms;
// Redirections without a pause between them; a cluster that is being changed needs two or three.
constexpr int max_quick_redirections = 5;

std::optional<std::uint16_t> first_slot(std::span<const Command> commands) noexcept {
  for (const Command& command : commands) {
    if (const auto slot = resp::slot_of(command)) return slot;
  }
  return std::nullopt;
}

bool is_in_one_slot(std::span<const Command> commands) noexcept {
  const std::optional<std::uint16_t> first = first_slot(commands);
  return std::ranges::all_of(commands, [first](const Command& command) {
    const auto slot = resp::slot_of(command);
    return !slot || slot == first;
  });
}

// The first redirection among the replies; of a transaction, any of its commands may have one.
Redirection redirection_of(const Replies& results, const Endpoint& asked) {
  for (const auto& result : results) {
    Redirection found = read_redirection(replied_error(result), asked);
    if (found.kind != Redirection::Kind::None) return found;
  }
  return {};
}

}  // namespace

Cluster::Cluster(std::shared_ptr<const Settings> settings)
    : settings_(std::move(settings)),
      members_(1),
      slots_(resp::slot_count, 0),
      room_(settings_->options) {}

Cluster::~Cluster() { close(problem_of(Error(Errc::Closed, "the Redis client"))); }

void Cluster::close(const Problem& why) noexcept {
  note(end_, why);
  for (const Member& one : members_) {
    if (one.node != nullptr) one.node->close(why);
  }
  refreshed_.wake_all();
  closed_.wake_all();
}

std::size_t Cluster::server_count() const noexcept {
  return std::max<std::size_t>(members_.size() - 1, 1);
}

Task<Result<Endpoint, Problem>> Cluster::place_of(std::optional<std::uint16_t> slot) {
  const loop::Instant deadline = later(loop::Loop::current().now(), settings_->options.connect);
  Result<Member, Problem> member = co_await member_for(slot, deadline);
  if (!member) co_return std::move(member).error();
  co_return member->place;
}

// Commands of one node ----------------------------------------------------------------------------

Task<Replies> Cluster::perform(std::vector<Command> commands, Atomicity atomicity,
                               loop::Instant deadline) {
  const Room::Taken taken(room_, commands, server_count());
  if (!taken) co_return refused(commands, atomicity);
  if (atomicity == Atomicity::Transaction && !is_in_one_slot(commands)) {
    const Problem why{.error = Error(Errc::Unsupported, "redis"),
                      .text = "the keys of a transaction have to be in one slot"};
    co_return Replies(commands.size() + 2, why);
  }
  if (commands.size() == 1 || atomicity == Atomicity::Transaction) {
    Replies results = co_await perform_together(commands, atomicity, deadline);
    co_return results;
  }
  Replies results = co_await perform_apart(commands, deadline);
  co_return results;
}

Task<Replies> Cluster::perform_together(std::span<const Command> commands, Atomicity atomicity,
                                        loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  Backoff backoff(settle_pause, settings_->options.max_backoff);
  const std::optional<std::uint16_t> slot = first_slot(commands);
  const bool is_alone = has_blocking(commands);
  std::optional<Endpoint> place;  // that a redirection named
  Asking asking = Asking::No;
  int quick = 0;
  bool was_refreshed = false;
  while (true) {
    Result<Member, Problem> member = co_await member_at_or_for(place, slot, deadline);
    const Asking asked = std::exchange(asking, Asking::No);
    place.reset();
    const BatchPtr batch = make_batch(commands, atomicity, asked);
    if (!member) {
      batch->fail(member.error());
      co_return results_of(*batch, asked);
    }
    co_await Node::run(member->node, batch, is_alone, deadline);
    Replies results = results_of(*batch, asked);
    if (batch->is_refused()) co_return results;
    if (atomicity == Atomicity::Transaction && !has_begun(results)) co_return results;
    if (batch->failure()) start_refresh();
    const Redirection found = redirection_of(results, member->place);
    const std::optional<Problem>& why = batch->failure();
    const bool is_lost = why && !batch->is_sent();
    if (found.kind == Redirection::Kind::None && !is_lost) co_return results;
    if (is_lost && why && is_permanent(*why)) {
      // The place may be another program's by now, if the map is old.
      if (std::exchange(was_refreshed, true) || end_) co_return results;
      co_await wait_for_refresh(deadline);
      continue;
    }
    bool is_quick = false;
    if (found.kind == Redirection::Kind::Moved) {
      // Not by the map: the server may see another slot in the command than we do.
      place = found.place;
      note_moved(found);
      is_quick = ++quick < max_quick_redirections;
    } else if (found.kind == Redirection::Kind::Ask && atomicity == Atomicity::None) {
      place = found.place;
      asking = Asking::Yes;
      is_quick = ++quick < max_quick_redirections;
    } else {
      start_refresh();
    }
    const Duration pause = is_quick ? Duration(0) : backoff.next();
    if (end_ || deadline - loop.now() <= pause) co_return results;
    if (!is_quick) co_await pause_for(pause);
  }
}

/// Returns the node that a redirection names, or else that of the slot.
Task<Result<Cluster::Member, Problem>> Cluster::member_at_or_for(std::optional<Endpoint> place,
                                                                 std::optional<std::uint16_t> slot,
                                                                 loop::Instant deadline) {
  if (place) co_return member_at(*place);
  Result<Member, Problem> member = co_await member_for(slot, deadline);
  co_return member;
}

/// Ends early if the client does.
Task<> Cluster::pause_for(Duration time) {
  loop::Loop& loop = loop::Loop::current();
  const loop::Instant end = later(loop.now(), time);
  while (!end_ && loop.now() < end) co_await loop::TimedWait(loop, closed_, end - loop.now());
}

Task<> Cluster::wait_for_refresh(loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  start_refresh();
  const Duration left = deadline - loop.now();
  if (is_refreshing_ && left > Duration(0)) co_await loop::TimedWait(loop, refreshed_, left);
}

/// Returns the node of a slot; of none, any node. Waits for the map, if there is none yet.
Task<Result<Cluster::Member, Problem>> Cluster::member_for(std::optional<std::uint16_t> slot,
                                                           loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  while (!end_) {
    if (has_map_ && slot && slots_[*slot] != 0) co_return members_[slots_[*slot]];
    if (has_map_ && !slot && members_.size() > 1) {
      const std::size_t any = 1 + crypto::random_word() % (members_.size() - 1);
      co_return members_[any];
    }
    if (deadline <= loop.now()) break;
    co_await wait_for_refresh(deadline);
    if (is_hopeless_) break;
  }
  if (end_) co_return *end_;
  if (last_problem_) co_return *last_problem_;
  co_return Problem{.error = Error(Errc::TimedOut, "redis"), .text = "no node serves the slot"};
}

// Pipelines ---------------------------------------------------------------------------------------

/// A command of a pipeline on its way to its result.
struct Cluster::Step {
  const Command* command = nullptr;
  std::optional<Endpoint> place{};  // that a redirection named
  bool was_refreshed = false;       // after a problem that is permanent, unless the map was old
  Result<Reply, Problem> result{Problem{.error = Error(Errc::TimedOut, "redis")}};
};

struct Cluster::Part {
  Member member{};
  std::vector<Step*> steps{};
  std::optional<Problem> lost{};  // why it was, before it was sent
};

/// Sends each node its part of the commands, and what was redirected once more, until all have a
/// result that is final.
Task<Replies> Cluster::perform_apart(const std::vector<Command>& commands, loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  std::vector<Step> steps(commands.size());
  std::vector<Step*> left;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    steps[i].command = &commands[i];
    left.push_back(&steps[i]);
  }
  Backoff backoff(settle_pause, settings_->options.max_backoff);
  while (!left.empty()) {
    std::vector<Part> parts = co_await split(left, deadline);
    std::vector<Task<>> running;
    running.reserve(parts.size());
    for (Part& part : parts) running.push_back(run_part(part, deadline));
    co_await when_all(std::move(running));
    left = co_await redirected(parts, deadline);
    const Duration pause = backoff.next();
    if (left.empty() || end_ || deadline - loop.now() <= pause) break;
    co_await pause_for(pause);
  }
  Replies results;
  results.reserve(steps.size());
  for (Step& step : steps) {
    results.push_back(std::move(step.result));
  }
  co_return results;
}

/// A command without a key goes where the one before it does, so that WAIT is about that.
Task<std::vector<Cluster::Part>> Cluster::split(const std::vector<Step*>& steps,
                                                loop::Instant deadline) {
  std::vector<Part> parts;
  std::size_t current = 0;
  for (Step* const step : steps) {
    const auto slot = resp::slot_of(*step->command);
    if (slot || step->place || parts.empty()) {
      const std::optional<Endpoint> place = std::exchange(step->place, std::nullopt);
      Result<Member, Problem> member = co_await member_at_or_for(place, slot, deadline);
      if (!member) {
        step->result = std::move(member).error();
        continue;
      }
      const auto found = std::ranges::find_if(
          parts, [&](const Part& one) { return one.member.node == member->node; });
      current = static_cast<std::size_t>(found - parts.begin());
      if (found == parts.end()) parts.push_back({.member = *std::move(member)});
    }
    parts[current].steps.push_back(step);
  }
  co_return parts;
}

Task<> Cluster::run_part(Part& part, loop::Instant deadline) {
  std::vector<Command> commands;
  commands.reserve(part.steps.size());
  for (const Step* const step : part.steps) commands.push_back(*step->command);
  const BatchPtr batch = make_batch(commands, Atomicity::None);
  co_await Node::run(part.member.node, batch, has_blocking(commands), deadline);
  if (batch->failure()) start_refresh();
  const bool is_lost = batch->failure() && !batch->is_sent() && !batch->is_refused();
  if (is_lost) part.lost = batch->failure();
  Replies results = results_of(*batch);
  for (std::size_t i = 0; i < results.size(); ++i) part.steps[i]->result = std::move(results[i]);
}

/// Returns the commands that have to be sent once more.
Task<std::vector<Cluster::Step*>> Cluster::redirected(const std::vector<Part>& parts,
                                                      loop::Instant deadline) {
  std::vector<Step*> again;
  bool needs_map = false;
  for (const Part& part : parts) {
    const bool is_permanent = part.lost && redis::is_permanent(*part.lost);
    for (Step* const step : part.steps) {
      if (part.lost) {
        // See perform_together().
        if (is_permanent && std::exchange(step->was_refreshed, true)) continue;
        needs_map = needs_map || is_permanent;
        again.push_back(step);
        continue;
      }
      const Redirection found = read_redirection(replied_error(step->result), part.member.place);
      if (found.kind == Redirection::Kind::Ask) {
        const std::span<const Command> one(step->command, 1);
        Replies result = co_await perform_together(one, Atomicity::None, deadline);
        step->result = std::move(result.front());
      } else if (found.kind != Redirection::Kind::None) {
        if (found.kind == Redirection::Kind::Moved) {
          step->place = found.place;
          note_moved(found);
        }
        if (found.kind == Redirection::Kind::Later) start_refresh();
        again.push_back(step);
      }
    }
  }
  if (needs_map) co_await wait_for_refresh(deadline);
  co_return again;
}

// The map of slots --------------------------------------------------------------------------------

Cluster::Member Cluster::member_at(const Endpoint& place) {
  const auto found = std::ranges::find(members_, place, &Member::place);
  if (found != members_.end()) return *found;
  const auto locate = [place]() { return located(place); };
  members_.push_back(
      {.place = place,
       .node = std::make_shared<Node>(settings_, locate, Role::Server, Node::Away::Fail)});
  if (end_) members_.back().node->close(*end_);
  return members_.back();
}

Task<Result<Endpoint, Problem>> Cluster::located(Endpoint place) { co_return place; }

void Cluster::note_moved(const Redirection& moved) {
  const Member member = member_at(moved.place);
  const auto at = std::ranges::find(members_, member.place, &Member::place);
  slots_[moved.slot] = static_cast<std::uint16_t>(at - members_.begin());
  start_refresh();
}

void Cluster::start_refresh() {
  if (!is_refreshing_ && !end_) tasks_.spawn(refresh());
}

Task<> Cluster::refresh() {
  {
    const Running running(is_refreshing_);
    is_hopeless_ = false;
    try {
      co_await refresh_from_any();
    } catch (const std::bad_alloc&) {
      last_problem_ = out_of_memory();
    }
    next_refresh_ = later(loop::Loop::current().now(), refresh_interval);
  }
  refreshed_.wake_all();
}

/// Asks one node after the other, those that are known in random order, then those of the options.
Task<> Cluster::refresh_from_any() {
  const Duration pause = next_refresh_ - loop::Loop::current().now();
  if (pause > Duration(0)) co_await sleep(pause);
  std::vector<Endpoint> order;
  for (std::size_t i = 1; i < members_.size(); ++i) order.push_back(members_[i].place);
  if (!order.empty()) {
    const auto first = static_cast<std::ptrdiff_t>(crypto::random_word() % order.size());
    std::ranges::rotate(order, order.begin() + first);
  }
  for (const Endpoint& one : settings_->endpoints) order.push_back(one);
  bool is_hopeless = true;
  for (const Endpoint& one : order) {
    if (end_) co_return;
    const bool is_done = co_await refresh_from(member_at(one));
    if (is_done) co_return;
    is_hopeless = is_hopeless && last_problem_ && is_permanent(*last_problem_);
  }
  is_hopeless_ = is_hopeless;
}

Task<bool> Cluster::refresh_from(Member asked) {
  const std::vector<Command> commands(1, Command("CLUSTER", "SLOTS"));
  const BatchPtr batch = make_batch(commands, Atomicity::None);
  const Duration limit = settings_->options.connect;
  co_await Node::run(asked.node, batch, false, later(loop::Loop::current().now(), limit));
  const Replies results = results_of(*batch);
  if (!results.front()) {
    last_problem_ = results.front().error();
    co_return false;
  }
  const std::vector<SlotRange> ranges = read_slots(*results.front(), asked.place);
  if (ranges.empty()) {
    const Reply& reply = *results.front();
    const bool is_refused = reply.error_code() == "ERR" || is_denial(reply.error_code());
    last_problem_ =
        net::could_not("ask " + asked.place.to_string() + " for the slots",
                       Error(is_refused ? Errc::ErrorReply : Errc::NotFound, "redis"),
                       reply.is_error() ? std::string(reply.text()) : std::string("it knows none"));
    co_return false;
  }
  apply(ranges);
  last_problem_.reset();
  co_return true;
}

/// Nodes without slots are forgotten. What they were asked, they answer first: tasks that wait keep
/// them.
void Cluster::apply(const std::vector<SlotRange>& ranges) {
  std::vector<Member> members(1);
  std::ranges::fill(slots_, std::uint16_t{0});
  for (const SlotRange& range : ranges) {
    auto found = std::ranges::find(members, range.master, &Member::place);
    if (found == members.end()) {
      members.push_back(member_at(range.master));
      found = members.end() - 1;
    }
    std::fill(slots_.begin() + range.first, slots_.begin() + range.last + 1,
              static_cast<std::uint16_t>(found - members.begin()));
  }
  members_ = std::move(members);
  has_map_ = true;
}

}  // namespace skua::redis
