// SPDX-License-Identifier: MIT
// In: names of channels, and pushes of the server. Out: messages, and gaps where some may be
// missing. A task keeps one connection subscribed until the subscription ends.
#include "redis/subscriber.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "net/problem.hpp"
#include "redis/backoff.hpp"
#include "redis/problem.hpp"
#include "resp/command_rules.hpp"

namespace skua::redis {
namespace {

constexpr std::size_t names_at_once = 256;  // in a command

std::size_t size_of(const Message& message) noexcept {
  return message.channel.size() + message.pattern.size() + message.payload.size();
}

}  // namespace

// The queue ---------------------------------------------------------------------------------------

bool MessageQueue::add(Message message) {
  const std::size_t size = size_of(message);
  const auto is_full = [&] {
    return messages_.size() >= options_.max_messages || bytes_ + size > options_.max_bytes;
  };
  if (is_full() && options_.overflow == Overflow::Close) return false;
  while (is_full() && !messages_.empty()) drop_oldest();
  if (is_full()) {  // it alone is too large
    begins_with_gap_ = true;
    return true;
  }
  bytes_ += size;
  messages_.push_back(std::move(message));
  return true;
}

void MessageQueue::drop_oldest() {
  bytes_ -= size_of(messages_.front());
  messages_.pop_front();
  begins_with_gap_ = true;
}

void MessageQueue::add_gap() {
  if (messages_.empty()) {
    begins_with_gap_ = true;
  } else if (messages_.back().kind != Message::Kind::Gap) {
    messages_.push_back({.kind = Message::Kind::Gap});
  }
}

std::optional<Message> MessageQueue::take() {
  if (std::exchange(begins_with_gap_, false)) return Message{.kind = Message::Kind::Gap};
  if (messages_.empty()) return std::nullopt;
  Message next = std::move(messages_.front());
  bytes_ -= size_of(next);
  messages_.pop_front();
  return next;
}

// The subscription --------------------------------------------------------------------------------

Subscriber::Subscriber(std::shared_ptr<const Settings> settings, std::shared_ptr<Topology> topology,
                       const SubscribeOptions& options)
    : settings_(std::move(settings)), topology_(std::move(topology)), queue_(options) {}

Subscriber::~Subscriber() {
  if (connection_ == nullptr) return;
  connection_->on_push(nullptr);
  connection_->on_closed(nullptr);
}

Task<Result<void, Problem>> Subscriber::start(std::shared_ptr<Subscriber> self, Channels channels) {
  self->add(channels);
  self->tasks_.spawn(self->stay_subscribed());
  loop::Loop& loop = loop::Loop::current();
  const Duration limit = self->settings_->options.connect;
  const loop::Instant deadline = later(loop.now(), limit);
  while (!self->is_subscribed_ && !self->end_) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) {
      if (const auto& why = self->problem_) co_return *why;
      co_return net::timed_out("subscribe", {limit, "redis::Options::connect"});
    }
    co_await loop::TimedWait(loop, self->changed_, left);
  }
  if (const auto& why = self->end_) co_return *why;
  co_return Result<void, Problem>();
}

Task<Result<Message, Problem>> Subscriber::next(std::shared_ptr<Subscriber> self) {
  while (true) {
    std::optional<Message> message = self->queue_.take();
    if (message) co_return *std::move(message);
    if (const auto& why = self->end_) co_return *why;
    co_await self->changed_.wait();
  }
}

void Subscriber::end(const Problem& why) noexcept {
  if (!end_) note(end_, why);
  drop_connection(why);
  changed_.wake_all();
}

void Subscriber::drop_connection(const Problem& why) noexcept {
  if (connection_ != nullptr) connection_->close(why);
  closed_.wake_all();
}

Task<> Subscriber::stay_subscribed() {
  const Options& options = settings_->options;
  Backoff backoff(options.min_backoff, options.max_backoff);
  while (!end_) {
    try {
      const bool was_subscribed = co_await subscribe_once();
      if (was_subscribed) backoff.reset();
    } catch (const std::bad_alloc&) {
      problem_ = out_of_memory();
    }
    changed_.wake_all();
    if (end_) co_return;
    try {
      topology_->misplaced();
      co_await sleep(backoff.next());
    } catch (const std::bad_alloc&) {
      end(out_of_memory());  // without a pause there would be no end of this
    }
  }
}

/// Reports whether another attempt is in vain. At first any refusal is told at once; later ones may
/// be of a server that has too many clients, or is not yet set up.
bool Subscriber::is_final(const Problem& why) const noexcept {
  const Errc code = why.code();
  return is_denial(why) ||
         (!is_subscribed_ && (code == Errc::ErrorReply || code == Errc::TlsCertificate));
}

/// Connects, and stays subscribed until the connection ends. Returns whether the server confirmed
/// all names.
Task<bool> Subscriber::subscribe_once() {
  Result<Connection::Self, Problem> opened = co_await open();
  if (end_) co_return false;
  if (!opened) {
    problem_ = std::move(opened).error();
    if (is_final(*problem_)) end(*problem_);
    co_return false;
  }
  needs_gap_ = std::exchange(was_connected_, true);
  co_await watch(*std::move(opened));
  co_return unconfirmed_ == 0;
}

Task<Result<Connection::Self, Problem>> Subscriber::open() {
  std::optional<std::uint16_t> slot;
  if (!shards_.all.empty()) slot = resp::slot_of_key(*shards_.all.begin());
  Result<Endpoint, Problem> place = co_await topology_->place_of(slot);
  if (!place) {
    if (place.error().code() == Errc::Closed) end(place.error());
    co_return std::move(place).error();
  }
  Result<Connection::Self, Problem> opened =
      co_await Connection::open(settings_, *std::move(place), topology_->role());
  co_return opened;
}

/// Subscribes, and pings the server whenever nothing else would tell that it is gone. Returns when
/// the connection is closed.
Task<> Subscriber::watch(Connection::Self connection) {
  loop::Loop& loop = loop::Loop::current();
  connection_ = connection;
  connection->on_push([this](const Reply& push) { on_push(push); });
  connection->on_closed([this](const Problem& why) {
    note(problem_, why);
    closed_.wake_all();
  });
  subscribe_to_all();
  const Duration pause = settings_->options.stall / 2;
  std::string ping;
  Command("PING").write(ping);
  while (connection->is_open() && !end_) {
    co_await loop::TimedWait(loop, closed_, pause);
    if (unconfirmed_ != 0 && loop.now() >= confirm_by_) break;
    const bool is_quiet = unconfirmed_ == 0 && connection->waiting_count() == 0;
    if (is_quiet && connection->is_open()) connection->send(std::make_shared<Batch>(ping, 1));
  }
  connection->on_push(nullptr);
  connection->on_closed(nullptr);
  connection_.reset();
  if (on_lost_ && !end_) on_lost_(problem_.value_or(Problem{.error = Errc::Closed}));
}

// Names -------------------------------------------------------------------------------------------

void Subscriber::subscribe_to_all() {
  unconfirmed_ = 0;
  leaving_ = 0;
  for (const Names* const names : {&channels_, &patterns_, &shards_}) {
    subscribe_to(names->command, {names->all.begin(), names->all.end()});
  }
}

void Subscriber::subscribe_to(std::string_view name, const std::vector<std::string_view>& names) {
  if (connection_ == nullptr || names.empty()) return;
  std::string wire;
  for (std::size_t i = 0; i < names.size(); i += names_at_once) {
    Command command(name);
    const std::size_t end = std::min(names.size(), i + names_at_once);
    for (std::size_t k = i; k < end; ++k) command.add(names[k]);
    command.write(wire);
  }
  // New names must not put off the end of a connection that is dead.
  if (unconfirmed_ == 0) await_confirmation();
  unconfirmed_ += names.size();
  connection_->write(wire);
}

void Subscriber::await_confirmation() {
  confirm_by_ = later(loop::Loop::current().now(), settings_->options.stall);
}

void Subscriber::add(const Channels& channels) {
  add_names(channels_, channels.channels_);
  add_names(patterns_, channels.patterns_);
  add_names(shards_, channels.shards_);
  if (are_in_one_slot(channels.shards_)) return;
  end({.error = Error(Errc::Unsupported, "redis"),
       .text = "the shard channels of a subscription have to be in one slot"});
}

void Subscriber::add_names(Names& names, const std::vector<std::string>& more) {
  std::vector<std::string_view> added;
  for (const std::string& name : more) {
    const auto [at, is_new] = names.all.insert(name);
    if (is_new) added.push_back(*at);
  }
  subscribe_to(names.command, added);
}

void Subscriber::remove(const Channels& channels) {
  remove_names(channels_, channels.channels_);
  remove_names(patterns_, channels.patterns_);
  remove_names(shards_, channels.shards_);
}

void Subscriber::remove_names(Names& names, const std::vector<std::string>& some) {
  // UNSUBSCRIBE, PUNSUBSCRIBE, SUNSUBSCRIBE
  std::string name(names.command);
  name.insert(name.find("SUB"), "UN");
  Command command(name);
  std::size_t count = 0;
  for (const std::string& one : some) {
    if (names.all.erase(one) == 0) continue;
    command.add(one);
    ++count;
  }
  if (connection_ == nullptr || count == 0) return;
  if (&names == &shards_) leaving_ += count;
  std::string wire;
  command.write(wire);
  connection_->write(wire);
}

bool Subscriber::are_in_one_slot(const std::vector<std::string>& names) const noexcept {
  if (settings_->options.mode != Mode::Cluster || shards_.all.empty()) return true;
  const std::uint16_t slot = resp::slot_of_key(*shards_.all.begin());
  return std::ranges::all_of(
      names, [slot](const std::string& name) { return resp::slot_of_key(name) == slot; });
}

// Pushes ------------------------------------------------------------------------------------------

void Subscriber::on_push(const Reply& push) {
  if (push.is_error()) return on_error(push);
  const std::string_view kind = push[0].text();
  if (kind == "message" || kind == "smessage") return on_message(push, 1, {});
  if (kind == "pmessage") return on_message(push, 2, push[1].text());
  if (kind == "subscribe" || kind == "psubscribe" || kind == "ssubscribe") {
    if (unconfirmed_ == 0) return;  // nobody asked
    --unconfirmed_;
    if (on_confirmed_) on_confirmed_(push[1].text());
    if (unconfirmed_ != 0) return await_confirmation();
    is_subscribed_ = true;
    if (std::exchange(needs_gap_, false)) queue_.add_gap();
    changed_.wake_all();
  } else if (kind == "sunsubscribe") {
    if (leaving_ != 0) {
      --leaving_;
    } else {  // the slot has moved to another node
      drop_connection(Problem::from(Error(Errc::Closed, "redis")));
    }
  }
}

void Subscriber::on_error(const Reply& error) {
  problem_ = error_of(error);
  const std::string_view code = error.error_code();
  const bool is_passing = code == "MOVED" || code == "CLUSTERDOWN" || code == "LOADING" ||
                          code == "MASTERDOWN" || code == "TRYAGAIN";
  if (!is_passing && is_final(*problem_)) return end(*problem_);
  drop_connection(*problem_);
}

void Subscriber::on_message(const Reply& push, std::size_t channel_at, std::string_view pattern) {
  Message message{.channel = std::string(push[channel_at].text()),
                  .pattern = std::string(pattern),
                  .payload = std::string(push[channel_at + 1].text())};
  if (!queue_.add(std::move(message))) {
    end({.error = Error(Errc::Overloaded, "redis"),
         .text = "too many messages wait (SubscribeOptions::max_messages, max_bytes)"});
  }
  changed_.wake_all();
}

}  // namespace skua::redis
