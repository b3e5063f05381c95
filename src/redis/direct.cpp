// SPDX-License-Identifier: MIT
// In: commands for one server. Out: their results; of a master that has become a replica, those of
// the new one.
#include "redis/direct.hpp"

#include <algorithm>
#include <utility>

#include "loop/loop.hpp"
#include "redis/backoff.hpp"
#include "skua/async.hpp"

namespace skua::redis {
namespace {

// A replica refuses to write, so none of these was executed.
bool is_read_only(const Replies& results) noexcept {
  return std::ranges::any_of(
      results, [](const auto& one) { return replied_error(one).starts_with("READONLY "); });
}

}  // namespace

Direct::Direct(const std::shared_ptr<const Settings>& settings) : settings_(settings) {
  if (settings->options.mode == Mode::Sentinel) {
    sentinels_ = std::make_unique<Sentinels>(settings, [this] { on_switch(); });
  }
  node_ = std::make_shared<Node>(
      settings, [this] { return place_of(std::nullopt); }, role(), Node::Away::Keep);
}

Direct::~Direct() { close(Problem::from(Error(Errc::Closed, "the Redis client"))); }

Role Direct::role() const noexcept { return sentinels_ != nullptr ? Role::Master : Role::Server; }

Task<Replies> Direct::perform(std::vector<Command> commands, Atomicity atomicity,
                              loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  Backoff backoff(settings_->options.min_backoff, settings_->options.max_backoff);
  const bool is_whole = commands.size() == 1 || atomicity == Atomicity::Transaction;
  while (true) {
    const BatchPtr batch = make_batch(commands, atomicity);
    co_await Node::run(node_, batch, has_blocking(commands), deadline);
    Replies results = results_of(*batch);
    if (sentinels_ == nullptr || !is_read_only(results)) co_return results;
    on_switch();
    const Duration pause = backoff.next();
    if (!is_whole || deadline - loop.now() <= pause) co_return results;
    co_await sleep(pause);
  }
}

Task<Result<Endpoint, Problem>> Direct::place_of(std::optional<std::uint16_t> /*slot*/) {
  if (sentinels_ == nullptr) co_return settings_->endpoints.front();
  Result<Endpoint, Problem> place = co_await sentinels_->locate();
  co_return place;
}

void Direct::on_switch() {
  node_->reconnect(Problem::from(Error(Errc::Closed, "the master of Redis has changed")));
}

void Direct::close(const Problem& why) {
  if (sentinels_ != nullptr) sentinels_->close();
  node_->close(why);
}

}  // namespace skua::redis
