// SPDX-License-Identifier: MIT
// In: batches. Out: the same, done or failed. Connections come and go; a batch that was not sent
// does not notice.
#include "redis/node.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "net/problem.hpp"

namespace skua::redis {
namespace {

constexpr std::size_t max_idle = 8;

// Whether another attempt would most likely fail for the same reason.
bool is_permanent(const Problem& why) noexcept {
  switch (why.code()) {
    case Errc::ErrorReply:
    case Errc::MalformedReply:
    case Errc::TlsCertificate:
    case Errc::TlsConfiguration: return true;
    default: return false;
  }
}

}  // namespace

/// The task that waits for a batch. If it is dropped, the batch is abandoned.
class Node::Held {
 public:
  Held(Node& node, Batch& batch) noexcept : node_(node), batch_(batch) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (batch_.is_done()) return;
    batch_.abandon();
    node_.withdraw(batch_);
  }

 private:
  Node& node_;
  Batch& batch_;
};

/// The use of a connection by a single batch.
class Node::Lending {
 public:
  explicit Lending(Node& node) noexcept : node_(node) { ++node_.lent_count_; }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  ~Lending() { --node_.lent_count_; }

 private:
  Node& node_;
};

Node::Node(std::shared_ptr<const Settings> settings, Locate locate, Role role, Away away)
    : settings_(std::move(settings)),
      locate_(std::move(locate)),
      role_(role),
      away_(away),
      backoff_(settings_->options.min_backoff, settings_->options.max_backoff) {}

Node::~Node() { close(Problem::from(Error(Errc::Closed, "the Redis client"))); }

Task<> Node::run(std::shared_ptr<Node> self, BatchPtr batch, bool is_alone,
                 loop::Instant deadline) {
  const Held held(*self, *batch);
  std::optional<Lending> lending;
  Connection::Self own;
  if (is_alone) {
    lending.emplace(*self);
    Result<Connection::Self, Problem> lent = co_await self->lend(deadline);
    if (!lent) {
      batch->fail(std::move(lent).error());
      co_return;
    }
    own = *std::move(lent);
    own->send(batch);
  } else {
    self->submit(batch);
  }
  co_await wait(*batch, deadline);
  if (!batch->is_done()) {
    batch->fail(self->timed_out(*batch));
    self->withdraw(*batch);
  }
  if (own != nullptr && !batch->failure()) self->give_back(std::move(own));
}

Task<> Node::wait(Batch& batch, loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  while (!batch.is_done()) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) co_return;
    co_await loop::TimedWait(loop, batch.changed(), left);
  }
}

Problem Node::timed_out(const Batch& batch) const {
  std::string text = "Redis did not answer in time";
  if (!batch.is_sent() && last_problem_) text += ": " + last_problem_->text;
  return {.error = Error(Errc::TimedOut, "redis"), .text = std::move(text)};
}

Problem Node::overloaded() const {
  std::string text = "too many commands wait for Redis";
  if (last_problem_) text += ": " + last_problem_->text;
  return {.error = Error(Errc::Overloaded, "redis"), .text = std::move(text)};
}

// The shared connection ---------------------------------------------------------------------------

bool Node::has_room(std::size_t count, std::uint64_t bytes, const Batch& batch) const noexcept {
  const Options& options = settings_->options;
  // A single command may exceed the limit of bytes, or it could never be sent.
  return count < options.max_waiting &&
         (bytes == 0 || bytes + batch.size_bytes() <= options.max_unsent_bytes);
}

void Node::submit(const BatchPtr& batch) {
  if (end_) return batch->fail(*end_);
  if (shared_ != nullptr && shared_->is_open()) {
    if (!has_room(shared_->waiting_count(), shared_->unsent_bytes(), *batch)) {
      return batch->fail(overloaded());
    }
    return shared_->send(batch);
  }
  if (!has_room(queue_.size(), queue_bytes_, *batch)) return batch->fail(overloaded());
  const bool is_too_soon =
      away_ == Away::Fail && last_problem_ && loop::Loop::current().now() < next_attempt_;
  if (is_too_soon) return batch->fail(*last_problem_);
  queue_.push_back(batch);
  queue_bytes_ += batch->size_bytes();
  start_connecting();
}

void Node::withdraw(const Batch& batch) noexcept {
  const auto found =
      std::ranges::find_if(queue_, [&](const BatchPtr& one) { return one.get() == &batch; });
  if (found == queue_.end()) return;
  queue_bytes_ -= batch.size_bytes();
  queue_.erase(found);
}

void Node::start_connecting() {
  if (is_connecting_) return;
  is_connecting_ = true;
  tasks_.spawn(keep_connected());
}

Task<> Node::keep_connected() {
  bool is_connected = false;
  while (!is_connected && !queue_.empty() && !end_) {
    const Duration pause = next_attempt_ - loop::Loop::current().now();
    if (pause > Duration(0)) co_await sleep(pause);
    is_connected = co_await connect_once();
  }
  is_connecting_ = false;
}

Task<bool> Node::connect_once() {
  try {
    Result<Connection::Self, Problem> opened = co_await open();
    if (opened && !end_) {
      connected(*std::move(opened));
      co_return true;
    }
    if (!opened) not_connected(opened.error());
  } catch (const std::bad_alloc&) {
    not_connected({.error = Error(Errc::OutOfMemory, "redis")});
  }
  co_return false;
}

void Node::connected(Connection::Self connection) {
  last_problem_.reset();
  backoff_.reset();
  shared_ = std::move(connection);
  shared_->on_closed([this](const Problem&) { shared_.reset(); });
  queue_bytes_ = 0;
  for (const BatchPtr& batch : std::exchange(queue_, {})) shared_->send(batch);
}

void Node::not_connected(const Problem& why) {
  last_problem_ = why;
  next_attempt_ = later(loop::Loop::current().now(), backoff_.next());
  if (!keeps_trying(why)) fail_queue(why);
}

bool Node::keeps_trying(const Problem& why) const noexcept {
  return away_ == Away::Keep && !is_permanent(why) && !end_;
}

void Node::fail_queue(const Problem& why) {
  queue_bytes_ = 0;
  for (const BatchPtr& batch : std::exchange(queue_, {})) batch->fail(why);
}

void Node::reconnect(const Problem& why) {
  idle_.clear();
  const Connection::Self old = std::exchange(shared_, nullptr);
  if (old == nullptr) return;
  old->on_closed(nullptr);
  old->close(why);
}

void Node::close(const Problem& why) {
  end_ = why;
  reconnect(why);
  fail_queue(why);
}

// Connections of blocking commands ----------------------------------------------------------------

Task<Result<Connection::Self, Problem>> Node::open() {
  Result<Endpoint, Problem> place = co_await locate_();
  if (!place) co_return std::move(place).error();
  Result<Connection::Self, Problem> opened =
      co_await Connection::open(settings_, *std::move(place), role_);
  co_return opened;
}

Task<Result<Connection::Self, Problem>> Node::lend(loop::Instant deadline) {
  if (lent_count_ > settings_->options.max_connections) co_return overloaded();
  while (!idle_.empty()) {
    Connection::Self kept = std::move(idle_.back());
    idle_.pop_back();
    if (kept->is_open()) co_return kept;
  }
  loop::Loop& loop = loop::Loop::current();
  Backoff backoff(settings_->options.min_backoff, settings_->options.max_backoff);
  while (!end_) {
    Task<Result<Connection::Self, Problem>> opening = open();
    auto opened = co_await loop::within(loop, deadline, std::move(opening));
    if (opened && *opened) {
      (**opened)->allow_silence();
      co_return **std::move(opened);
    }
    if (opened) last_problem_ = opened->error();
    const Duration pause = backoff.next();
    if (opened && !keeps_trying(opened->error())) co_return opened->error();
    if (!opened || deadline - loop.now() <= pause) {
      std::string text = "Redis did not answer in time";
      if (last_problem_) text += ": " + last_problem_->text;
      co_return Problem{.error = Error(Errc::TimedOut, "redis"), .text = std::move(text)};
    }
    co_await sleep(pause);
  }
  co_return *end_;
}

void Node::give_back(Connection::Self connection) {
  if (!end_ && connection->is_open() && idle_.size() < max_idle) {
    idle_.push_back(std::move(connection));
  }
}

}  // namespace skua::redis
