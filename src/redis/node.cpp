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
#include "redis/problem.hpp"

namespace skua::redis {
namespace {

constexpr std::size_t max_idle = 8;

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

/// The use of a connection by a single batch, from the wait for the connection on.
class Node::Lending {
 public:
  Lending(Node& node, Batch& batch) noexcept : node_(node), batch_(batch), next_(node.lent_) {
    if (next_ != nullptr) next_->previous_ = this;
    node_.lent_ = this;
    ++node_.lent_count_;
  }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  ~Lending() {
    --node_.lent_count_;
    (previous_ == nullptr ? node_.lent_ : previous_->next_) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

  /// Finds a connection. If there is none, the batch fails.
  Task<> find(loop::Instant deadline);
  void send(const BatchPtr& batch) {
    if (connection_ != nullptr) connection_->send(batch);
  }
  /// Keeps the connection for the next one.
  void give_back() noexcept {
    const bool is_kept = !node_.end_ && connection_ != nullptr && connection_->is_open() &&
                         node_.is_current(*connection_) && generation_ == node_.generation_ &&
                         node_.idle_.size() < max_idle;
    if (!is_kept) return;
    try {
      node_.idle_.push_back(connection_);
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then it is closed
    }
  }
  /// Ends the batch.
  void end(const Problem& why) noexcept {
    batch_.fail(why);
    if (connection_ != nullptr) connection_->close(why);
  }
  [[nodiscard]] const Connection* connection() const noexcept { return connection_.get(); }
  [[nodiscard]] Lending* next() const noexcept { return next_; }

 private:
  Task<bool> try_to_open(loop::Instant deadline);
  void take(Connection::Self connection) {
    connection_ = std::move(connection);
    generation_ = node_.generation_;
    batch_.set_generation(generation_);
  }

  Node& node_;
  Batch& batch_;
  Connection::Self connection_{};
  std::uint64_t generation_ = 0;
  Lending* next_;
  Lending* previous_ = nullptr;
};

Node::Node(std::shared_ptr<const Settings> settings, Locate locate, Role role, Away away)
    : settings_(std::move(settings)),
      locate_(std::move(locate)),
      role_(role),
      away_(away),
      backoff_(settings_->options.min_backoff, settings_->options.max_backoff) {}

Node::~Node() { close(problem_of(Error(Errc::Closed, "the Redis client"))); }

Task<> Node::run(std::shared_ptr<Node> self, BatchPtr batch, bool is_alone,
                 loop::Instant deadline) {
  const Held held(*self, *batch);
  if (is_alone) {
    co_await run_alone(self, batch, deadline);
    co_return;
  }
  self->submit(batch);
  co_await wait(*batch, deadline);
  if (batch->is_done()) co_return;
  batch->fail(self->timed_out(*batch));
  self->withdraw(*batch);
}

Task<> Node::run_alone(std::shared_ptr<Node> self, BatchPtr batch, loop::Instant deadline) {
  if (const auto& why = self->end_) co_return batch->fail(*why);
  if (self->lent_count_ >= self->settings_->options.max_connections) {
    co_return batch->refuse(self->overloaded());
  }
  Lending lending(*self, *batch);
  co_await lending.find(deadline);
  lending.send(batch);
  co_await wait(*batch, deadline);
  if (!batch->is_done()) batch->fail(self->timed_out(*batch));
  if (!batch->failure()) lending.give_back();
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
      return batch->refuse(overloaded());
    }
    batch->set_generation(generation_);
    return shared_->send(batch);
  }
  if (!has_room(queue_.size(), queue_bytes_, *batch)) return batch->refuse(overloaded());
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
  if (!is_connecting_) tasks_.spawn(keep_connected());
}

Task<> Node::keep_connected() {
  const Running running(is_connecting_);
  bool is_connected = false;
  while (!is_connected && !queue_.empty() && !end_) {
    try {
      const bool told = co_await connect_once();
      is_connected = told;
    } catch (const std::bad_alloc&) {
      not_connected(out_of_memory());  // which ends the queue
    }
  }
}

/// Returns whether the queue was sent.
Task<bool> Node::connect_once() {
  const Duration pause = next_attempt_ - loop::Loop::current().now();
  if (pause > Duration(0)) co_await sleep(pause);
  Result<Connection::Self, Problem> opened = co_await open();
  if (opened && !end_) co_return connected(*std::move(opened));
  if (!opened) not_connected(opened.error());
  co_return false;
}

bool Node::connected(Connection::Self connection) {
  if (!is_current(*connection)) return false;  // it has moved meanwhile
  connection->on_closed([this](const Problem&) { shared_.reset(); });
  last_problem_.reset();
  backoff_.reset();
  shared_ = std::move(connection);
  while (!queue_.empty() && shared_ != nullptr) {
    const BatchPtr batch = std::move(queue_.front());
    queue_.pop_front();
    queue_bytes_ -= batch->size_bytes();
    batch->set_generation(generation_);
    shared_->send(batch);  // which may lose the connection
  }
  return shared_ != nullptr;
}

void Node::not_connected(const Problem& why) noexcept {
  note(last_problem_, why);
  next_attempt_ = later(loop::Loop::current().now(), backoff_.next());
  if (!keeps_trying(why)) fail_queue(why);
}

bool Node::keeps_trying(const Problem& why) const noexcept {
  return away_ == Away::Keep && !is_permanent(why) && !end_;
}

void Node::fail_queue(const Problem& why) noexcept {
  queue_bytes_ = 0;
  while (!queue_.empty()) {
    queue_.front()->fail(why);
    queue_.pop_front();
  }
}

// Other places and roles --------------------------------------------------------------------------

bool Node::is_current(const Connection& connection) const noexcept {
  return !place_ || connection.endpoint() == *place_;
}

void Node::leave_all(const Problem& why) noexcept {
  ++generation_;
  idle_.clear();
  for (Lending* one = lent_; one != nullptr; one = one->next()) {
    if (one->connection() != nullptr) one->end(why);
  }
  leave_shared(why);
}

void Node::leave_shared(const Problem& why) noexcept {
  const Connection::Self old = std::exchange(shared_, nullptr);
  if (old == nullptr) return;
  old->on_closed(nullptr);
  old->close(why);
}

void Node::leave(std::uint64_t generation, const Problem& why) noexcept {
  if (generation != generation_) return;
  place_.reset();
  leave_all(why);
}

void Node::move_to(const Endpoint& place, const Problem& why) {
  place_ = place;
  ++located_;
  const bool is_there = shared_ == nullptr || is_current(*shared_);
  std::erase_if(idle_, [this](const auto& one) { return !is_current(*one); });
  for (Lending* one = lent_; one != nullptr; one = one->next()) {
    if (one->connection() != nullptr && !is_current(*one->connection())) one->end(why);
  }
  if (is_there) return;
  ++generation_;
  leave_shared(why);
}

void Node::close(const Problem& why) noexcept {
  note(end_, why);
  for (Lending* one = lent_; one != nullptr; one = one->next()) one->end(why);
  leave_all(why);
  fail_queue(why);
}

// Connections of blocking commands ----------------------------------------------------------------

Task<Result<Connection::Self, Problem>> Node::open() {
  while (true) {
    const std::uint64_t before = located_;
    Result<Endpoint, Problem> place = co_await locate_();
    if (!place) co_return std::move(place).error();
    if (before != located_ && place_ != *place) continue;  // it has moved meanwhile
    place_ = *place;
    Result<Connection::Self, Problem> opened =
        co_await Connection::open(settings_, *std::move(place), role_);
    co_return opened;
  }
}

/// Finds a connection for the batch, until that is done: the end of the node fails it.
Task<> Node::Lending::find(loop::Instant deadline) {
  while (!node_.idle_.empty()) {
    Connection::Self kept = std::move(node_.idle_.back());
    node_.idle_.pop_back();
    if (kept->is_open() && node_.is_current(*kept)) co_return take(std::move(kept));
  }
  loop::Loop& loop = loop::Loop::current();
  const Options& options = node_.settings_->options;
  Backoff backoff(options.min_backoff, options.max_backoff);
  while (!batch_.is_done()) {
    const bool is_over = co_await try_to_open(deadline);
    if (is_over) co_return;
    const Duration left = std::min(deadline - loop.now(), backoff.next());
    if (left > Duration(0)) co_await loop::TimedWait(loop, batch_.changed(), left);
  }
}

/// Returns whether there is a connection, or the batch is done.
Task<bool> Node::Lending::try_to_open(loop::Instant deadline) {
  loop::Loop& loop = loop::Loop::current();
  Task<Result<Connection::Self, Problem>> opening = node_.open();
  opening.start([](void* batch) noexcept { static_cast<Batch*>(batch)->changed().wake_all(); },
                &batch_);
  while (!opening.is_done() && !batch_.is_done()) {
    const Duration left = deadline - loop.now();
    if (left <= Duration(0)) {
      batch_.fail(node_.timed_out(batch_));
      break;
    }
    co_await loop::TimedWait(loop, batch_.changed(), left);
  }
  if (batch_.is_done()) co_return true;
  Result<Connection::Self, Problem> opened = opening.result();
  if (!opened) {
    note(node_.last_problem_, opened.error());
    if (!node_.keeps_trying(opened.error())) batch_.fail(opened.error());
    co_return batch_.is_done();
  }
  if (!node_.is_current(**opened)) co_return false;  // it has moved meanwhile
  (*opened)->allow_silence();
  take(*std::move(opened));
  co_return true;
}

}  // namespace skua::redis
