// SPDX-License-Identifier: MIT
// In: the addresses of Sentinels. Out: that of the master, and its changes. One connection serves
// both: RESP3 lets a subscriber send commands.
#include "redis/sentinels.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <string>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "net/problem.hpp"
#include "redis/problem.hpp"
#include "resp/number.hpp"
#include "skua/redis_command.hpp"

namespace skua::redis {
namespace {

constexpr std::string_view switch_channel = "+switch-master";

Task<> wait(Batch& batch, Duration limit) {
  loop::Loop& loop = loop::Loop::current();
  const loop::Instant deadline = later(loop.now(), limit);
  while (!batch.is_done()) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) co_return;
    co_await loop::TimedWait(loop, batch.changed(), left);
  }
}

/// Returns the new place in a message about a switch; nullopt if it is of another master.
std::optional<Endpoint> master_in(std::string_view message, std::string_view name) {
  if (!message.starts_with(name)) return std::nullopt;
  message.remove_prefix(name.size());
  if (!message.starts_with(' ')) return std::nullopt;
  const std::size_t before_port = message.rfind(' ');
  const auto port = resp::parse_integer(message.substr(before_port + 1));
  message = message.substr(0, before_port);
  const std::size_t before_host = message.rfind(' ');
  if (before_host == std::string_view::npos || !port || *port <= 0 || *port > 65535) {
    return std::nullopt;
  }
  return Endpoint{.host = std::string(message.substr(before_host + 1)),
                  .port = static_cast<std::uint16_t>(*port)};
}

// Also ends the watch of a connection that brings nothing more: see Connection's stall.
Task<> ping(Connection& link, Duration limit) {
  std::string wire;
  Command("PING").write(wire);
  const auto batch = std::make_shared<Batch>(std::move(wire), 1);
  link.send(batch);
  co_await wait(*batch, limit);
}

}  // namespace

Sentinels::Sentinels(std::shared_ptr<const Settings> settings, OnSwitch on_switch)
    : settings_(std::move(settings)),
      on_switch_(std::move(on_switch)),
      known_(settings_->endpoints),
      backoff_(settings_->options.min_backoff, settings_->options.max_backoff) {}

Sentinels::~Sentinels() { close(); }

void Sentinels::close() noexcept {
  on_switch_ = nullptr;
  if (const Connection::Self link = std::exchange(link_, nullptr)) {
    link->on_push(nullptr);
    link->on_closed(nullptr);
    link->close(problem_of(Error(Errc::Closed, "the Redis client")));
  }
  changed_.wake_all();
}

Task<Result<Endpoint, Problem>> Sentinels::locate() {
  if (!on_switch_) co_return problem_of(Error(Errc::Closed, "the Redis client"));
  if (!is_watching_) tasks_.spawn(watch());
  if (is_subscribed_ && link_ != nullptr && link_->is_open()) {
    Result<Endpoint, Problem> told = co_await ask(link_);
    if (told) co_return told;
  }
  Problem last = Problem::from(Errc::NotFound);
  const std::vector<Endpoint> order = known_;
  for (const Endpoint& one : order) {
    Result<Connection::Self, Problem> link =
        co_await Connection::open(settings_, one, Role::Sentinel);
    if (!link) {
      last = std::move(link).error();
      continue;
    }
    Result<Endpoint, Problem> told = co_await ask(*link);
    if (told) {
      const auto at = std::ranges::find(known_, one);
      if (at != known_.end()) std::rotate(known_.begin(), at, at + 1);
      co_return told;
    }
    last = std::move(told).error();
  }
  co_return last;
}

Task<Result<Endpoint, Problem>> Sentinels::ask(Connection::Self link) {
  const std::string& name = settings_->options.master;
  const std::string step = "ask " + link->endpoint().to_string() + " for the master " + name;
  std::string wire;
  Command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name).write(wire);
  const auto batch = std::make_shared<Batch>(std::move(wire), 1);
  link->send(batch);
  const Duration limit = settings_->options.connect;
  co_await wait(*batch, limit);
  if (const auto& why = batch->failure()) co_return *why;
  if (!batch->is_done()) {
    co_return net::timed_out(step, {limit, "redis::Options::connect"});
  }
  const Reply& told = batch->replies().front();
  if (told.is_error()) co_return net::could_not(step, Errc::ErrorReply, std::string(told.text()));
  const auto port = told[1].integer();
  if (told.size() != 2 || !port || *port <= 0 || *port > 65535) {
    co_return net::could_not(step, Errc::NotFound, "it does not know it");
  }
  Endpoint master{.host = std::string(told[0].text()), .port = static_cast<std::uint16_t>(*port)};
  co_return master;
}

Task<Result<Connection::Self, Problem>> Sentinels::connect() {
  Problem last;
  const std::vector<Endpoint> order = known_;
  for (const Endpoint& one : order) {
    Result<Connection::Self, Problem> link =
        co_await Connection::open(settings_, one, Role::Sentinel);
    if (link) co_return link;
    last = std::move(link).error();
  }
  co_return last;
}

Task<> Sentinels::watch() {
  const Running running(is_watching_);
  while (on_switch_) {
    try {
      co_await watch_one();
    } catch (const std::bad_alloc&) {
      link_.reset();  // perhaps there is memory for the next one
    }
    link_.reset();
    if (on_switch_) co_await sleep(backoff_.next());
  }
}

/// Watches a Sentinel until its connection ends.
Task<> Sentinels::watch_one() {
  const Result<Connection::Self, Problem> opened = co_await connect();
  if (!opened || !on_switch_) co_return;
  const Connection::Self& link = *opened;
  link_ = link;
  const bool is_subscribed = co_await subscribe(link);
  if (!is_subscribed || !on_switch_) co_return;
  backoff_.reset();
  // The master may have changed while nobody watched.
  const Result<Endpoint, Problem> now = co_await ask(link);
  if (now && on_switch_) on_switch_(*now);
  const Duration stall = settings_->options.stall;
  while (link->is_open() && on_switch_) {
    co_await loop::TimedWait(loop::Loop::current(), changed_, stall / 2);
    if (link->is_open()) co_await ping(*link, stall);
  }
}

/// Returns whether the Sentinel has confirmed. Until it has, nothing else is asked: a refusal would
/// be taken for the reply.
Task<bool> Sentinels::subscribe(Connection::Self link) {
  is_subscribed_ = is_refused_ = false;
  link->on_push([this](const Reply& push) { on_push(push); });
  link->on_closed([this](const Problem&) { changed_.wake_all(); });
  std::string wire;
  Command("SUBSCRIBE", switch_channel).write(wire);
  link->write(wire);
  loop::Loop& loop = loop::Loop::current();
  const loop::Instant deadline = later(loop.now(), settings_->options.connect);
  while (link->is_open() && on_switch_ && !is_subscribed_ && !is_refused_) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) break;
    co_await loop::TimedWait(loop, changed_, left);
  }
  co_return is_subscribed_;
}

/// `message +switch-master "NAME OLD-IP OLD-PORT NEW-IP NEW-PORT"`
void Sentinels::on_push(const Reply& push) {
  if (push.is_error()) is_refused_ = true;
  if (push[0].text() == "subscribe") is_subscribed_ = true;
  changed_.wake_all();
  const bool is_message = push[0].text() == "message" && push[1].text() == switch_channel;
  if (!is_message || !on_switch_) return;
  const auto master = master_in(push[2].text(), settings_->options.master);
  if (master) on_switch_(*master);
}

}  // namespace skua::redis
