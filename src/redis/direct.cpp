// SPDX-License-Identifier: MIT
// In: commands for one server. Out: their results; of a master that has become a replica, those of
// the new one.
#include "redis/direct.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "redis/backoff.hpp"
#include "redis/problem.hpp"

namespace skua::redis {
namespace {

// A replica refuses to write, so none of these was executed.
bool is_read_only(const Replies& results) noexcept {
  return std::ranges::any_of(
      results, [](const auto& one) { return replied_error(one).starts_with("READONLY "); });
}

// The name of the server may lead to another one by now.
bool is_of_wrong_server(const Replies& results) noexcept {
  return std::ranges::any_of(results, [](const auto& one) {
    const std::string_view error = replied_error(one);
    return error.starts_with("READONLY ") || error.starts_with("MASTERDOWN ") ||
           error.starts_with("LOADING ");
  });
}

// A replica that is meant, or a server that loads for long, does not lose its connections more
// often.
constexpr Duration leave_interval = 1s;

Problem switched() noexcept {
  return problem_of(Error(Errc::Closed, "the master of Redis has changed"));
}

}  // namespace

Direct::Direct(const std::shared_ptr<const Settings>& settings)
    : settings_(settings), room_(settings->options) {
  if (settings->options.mode == Mode::Sentinel) {
    sentinels_ = std::make_unique<Sentinels>(
        settings, [this](const Endpoint& master) { node_->move_to(master, switched()); });
  }
  node_ = std::make_shared<Node>(
      settings, [this] { return place_of(std::nullopt); }, role(), Node::Away::Keep);
}

Direct::~Direct() { close(problem_of(Error(Errc::Closed, "the Redis client"))); }

Role Direct::role() const noexcept { return sentinels_ != nullptr ? Role::Master : Role::Server; }

Task<Replies> Direct::perform(std::vector<Command> commands, Atomicity atomicity,
                              loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  Backoff backoff(settings_->options.min_backoff, settings_->options.max_backoff);
  std::optional<Room::Taken> taken;
  if (sentinels_ != nullptr) {  // otherwise the node's bounds are enough
    taken.emplace(room_, commands);
    if (!*taken) co_return refused(commands, atomicity);
  }
  const bool is_whole = commands.size() == 1 || atomicity == Atomicity::Transaction;
  bool was_left = false;
  while (true) {
    const BatchPtr batch = make_batch(commands, atomicity);
    co_await Node::run(node_, batch, has_blocking(commands), deadline);
    Replies results = results_of(*batch);
    if (sentinels_ == nullptr && is_of_wrong_server(results)) {
      leave_wrong_server(batch->generation());
    }
    if (!is_read_only(results)) co_return results;
    if (atomicity == Atomicity::Transaction && !has_begun(results)) co_return results;
    if (sentinels_ == nullptr) {
      if (!is_whole || is_closed_ || std::exchange(was_left, true)) co_return results;
      continue;
    }
    node_->leave(batch->generation(), switched());
    const Duration pause = backoff.next();
    if (!is_whole || is_closed_ || deadline - loop.now() <= pause) co_return results;
    co_await loop::TimedWait(loop, closed_, pause);
  }
}

/// Looks the name of the server up again, for the next command.
void Direct::leave_wrong_server(std::uint64_t generation) {
  const loop::Instant now = loop::Loop::current().now();
  if (now < next_leave_) return;
  next_leave_ = later(now, leave_interval);
  node_->leave(generation, switched());
}

Task<Result<Endpoint, Problem>> Direct::place_of(std::optional<std::uint16_t> /*slot*/) {
  if (sentinels_ == nullptr) co_return settings_->endpoints.front();
  Result<Endpoint, Problem> place = co_await sentinels_->locate();
  co_return place;
}

void Direct::close(const Problem& why) noexcept {
  is_closed_ = true;
  if (sentinels_ != nullptr) sentinels_->close();
  node_->close(why);
  closed_.wake_all();
}

}  // namespace skua::redis
