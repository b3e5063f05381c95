// SPDX-License-Identifier: MIT
// All requests for a connection wait in one line, whatever their host. Each event (a connection
// given back, removed, or with more capacity) serves the line from its front: with a lease of a
// connection, or permission to make one, which counts as a connection from then on.
#include "client/wire/pool.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "client/problem.hpp"
#include "client/waiting.hpp"

namespace skua::client {
namespace {

constexpr std::size_t max_remembered = 1000;  // keys; beyond that, all are forgotten

}  // namespace

/// The connections with one key.
struct Pool::Group {
  std::string key{};
  // If they may be shared, the most recently used last.
  std::vector<std::unique_ptr<PooledConnection>> connections{};
  std::vector<PooledConnection*> idle{};  // the most recently used last
  std::size_t making = 0;                 // connections being made
  std::size_t turns = 0;                  // waiting, or being served
  Sharing sharing = Sharing::None;
  bool is_shared = false;      // a connection may have room beside those who use it
  bool is_one_by_one = false;  // makes one at a time, as each may have room for all waiters
  std::uint64_t full_in = 0;   // the last walk along the line that found it full
};

/// A place in the line. Holds its outcome until that is taken.
class Pool::Turn final : public base::ListNode {
 public:
  Turn(Pool& pool, Group& group) : pool_(pool), group_(group) {
    ++group.turns;
    pool.line_.push_back(*this);
    pool.serve(this);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    lease_.release();
    unlink();
    --group_.turns;
    if (may_make_) {
      --group_.making;
      --pool_.count_;
      if (pool_.meter_ != nullptr) pool_.meter_->fewer(Gauge::Connecting);
      pool_.removed_.wake_all();  // closed() waits for this one, too
      pool_.serve();
    }
    pool_.forget_if_empty(group_);
  }

  [[nodiscard]] Group& group() const noexcept { return group_; }
  [[nodiscard]] bool is_served() const noexcept { return lease_ || may_make_; }
  [[nodiscard]] bool may_make() const noexcept { return may_make_; }
  [[nodiscard]] skua::detail::WaiterList& served() noexcept { return served_; }

  void give(Lease lease) noexcept {
    lease_ = std::move(lease);
    unlink();
    served_.wake_all();
  }
  void let_make() noexcept {
    may_make_ = true;
    ++group_.making;
    ++pool_.count_;
    if (pool_.meter_ != nullptr) pool_.meter_->more(Gauge::Connecting);
    unlink();
    served_.wake_all();
  }
  Lease take() noexcept { return std::move(lease_); }
  [[nodiscard]] bool waits_for_others() const noexcept {
    return group_.is_one_by_one && group_.making != 0 && !is_impatient_;
  }
  /// Stops waiting for connections made for others. Returns whether that helped.
  bool insists() noexcept {
    is_impatient_ = true;
    pool_.serve();
    return is_served();
  }
  /// Reserves memory, so that made() cannot fail.
  void prepare() {
    const std::size_t count = group_.connections.size() + group_.making;
    group_.connections.reserve(count);
    group_.idle.reserve(count);
  }
  /// Adds the new connection to the pool.
  Lease made(std::unique_ptr<PooledConnection> connection) noexcept {
    PooledConnection& added = *connection;
    added.group_ = &group_;
    group_.connections.push_back(std::move(connection));
    --group_.making;
    may_make_ = false;
    if (pool_.meter_ != nullptr) {
      pool_.meter_->fewer(Gauge::Connecting);
      pool_.meter_->more(Gauge::Open);
    }
    const bool has_more_room = added.capacity() > 1;
    if (has_more_room) group_.is_shared = true;
    pool_.learn(group_, has_more_room);
    Lease own = pool_.lease(added);
    pool_.serve();  // it may have room for others, or they may make their own
    return own;
  }
  /// Lets all waiters try for themselves, at once.
  void failed() noexcept { group_.is_one_by_one = false; }

 private:
  Pool& pool_;
  Group& group_;
  Lease lease_;
  bool may_make_ = false;
  bool is_impatient_ = false;
  skua::detail::WaiterList served_;
};

/// Tells the meter, if there is one, that a request waits.
class Pool::MeteredWait {
 public:
  explicit MeteredWait(Meter* meter) noexcept : meter_(meter) {
    if (meter_ != nullptr) meter_->more(Gauge::Waiting);
  }
  MeteredWait(const MeteredWait&) = delete;
  MeteredWait& operator=(const MeteredWait&) = delete;
  ~MeteredWait() {
    if (meter_ != nullptr) meter_->fewer(Gauge::Waiting);
  }

  void end(Duration time) const noexcept {
    if (meter_ != nullptr) meter_->waited(time);
  }

 private:
  Meter* const meter_;
};

auto Pool::place_of(const PooledConnection& connection, Group& group) noexcept {
  return std::find_if(group.connections.begin(), group.connections.end(),
                      [&](const auto& one) { return one.get() == &connection; });
}

void Pool::Lease::hold() noexcept {
  if (connection_ == nullptr || is_held_) return;
  is_held_ = true;
  ++connection_->held_;
  pool_->removed_.wake_all();
}

void Pool::Lease::release() noexcept {
  if (connection_ == nullptr) return;
  if (std::exchange(is_held_, false)) --connection_->held_;
  std::exchange(pool_, nullptr)->give_back(*std::exchange(connection_, nullptr));
}

Pool::Pool(loop::Loop& loop, const PoolLimits& limits, Meter* meter)
    : loop_(loop),
      limits_(limits),
      meter_(meter),
      timer_(loop.timers(), loop::call_member<&Pool::close_idle>, this) {}

Pool::~Pool() = default;

Pool::Lease Pool::take_free(const std::string& key) noexcept {
  const auto found = groups_.find(key);
  if (found == groups_.end() || is_serving_) return {};
  PooledConnection* const free = find_free(*found->second);
  return free != nullptr ? lease(*free) : Lease();
}

Task<Result<Pool::Lease, Problem>> Pool::acquire(std::string key, std::string whom, Duration limit,
                                                 Connect connect, Sharing sharing) {
  const loop::Instant began = loop_.now();
  Turn turn(*this, group_of(key, sharing));
  if (!turn.is_served()) {
    const MeteredWait wait(meter_);
    bool is_in_time = true;
    while (is_in_time && !turn.is_served()) {
      const Duration left = limit - (loop_.now() - began);
      if (left > Duration(0)) {
        co_await TimedWait(loop_, turn.served(), left);
      } else {
        is_in_time = turn.insists();
      }
    }
    wait.end(loop_.now() - began);
    if (!is_in_time) {
      co_return timed_out("get one of the connections to " + whom + ", which are all in use",
                          {limit, "ClientTimeouts::queue", "none became free"});
    }
  }
  if (!turn.may_make()) co_return turn.take();
  turn.prepare();
  Result<std::unique_ptr<PooledConnection>, Problem> made = co_await connect();
  if (!made) {
    turn.failed();
    co_return made.error();
  }
  co_return turn.made(*std::move(made));
}

Pool::Group& Pool::group_of(const std::string& key, Sharing sharing) {
  if (const auto found = groups_.find(key); found != groups_.end()) return *found->second;
  auto group = std::make_unique<Group>();
  group->key = key;
  group->sharing = sharing;
  group->is_shared = sharing == Sharing::Possible;
  group->is_one_by_one = sharing == Sharing::Possible && !unshared_.contains(key);
  return *groups_.emplace(key, std::move(group)).first->second;
}

// Groups go with their connections; what was learned about a server is kept longer.
void Pool::learn(Group& group, bool is_shared) noexcept try {
  if (group.sharing == Sharing::None) return;
  group.is_one_by_one = is_shared;
  if (is_shared) {
    unshared_.erase(group.key);
    return;
  }
  if (unshared_.size() >= max_remembered) unshared_.clear();
  unshared_.insert(group.key);
} catch (const std::bad_alloc&) {  // it will be learned another time
  return;
}

void Pool::forget_if_empty(Group& group) noexcept {
  if (!group.connections.empty() || group.making != 0 || group.turns != 0) return;
  const auto found = groups_.find(group.key);
  groups_.erase(found);
}

// The line ---------------------------------------------------------------------------------------

// If nothing else has changed, only a newcomer can be served.
void Pool::serve(Turn* newcomer) noexcept {
  if (newcomer == nullptr || is_serving_) has_news_ = true;
  if (is_serving_) return;
  is_serving_ = true;
  ++walks_;
  if (newcomer != nullptr) serve_one(*newcomer);
  while (std::exchange(has_news_, false)) {
    ++walks_;
    line_.for_each([this](Turn& turn) { serve_one(turn); });
  }
  is_serving_ = false;
}

// Thousands may wait for one full group, so it is examined only once per walk.
void Pool::serve_one(Turn& turn) noexcept {
  Group& group = turn.group();
  if (group.full_in == walks_) return;
  if (PooledConnection* const free = find_free(group)) {
    turn.give(lease(*free));
  } else if (group.connections.size() + group.making >= limits_.per_host) {
    group.full_in = walks_;
  } else if (!turn.waits_for_others() && may_make()) {
    turn.let_make();
  }
}

PooledConnection* Pool::find_free(Group& group) noexcept {
  if (!group.is_shared) {  // there may be hundreds, all in use
    const auto free =
        std::find_if(group.idle.rbegin(), group.idle.rend(),
                     [](const PooledConnection* one) { return one->capacity() != 0; });
    return free != group.idle.rend() ? *free : nullptr;
  }
  const auto free = std::find_if(
      group.connections.rbegin(), group.connections.rend(),
      [](const std::unique_ptr<PooledConnection>& one) { return one->capacity() > one->leases_; });
  return free != group.connections.rend() ? free->get() : nullptr;
}

bool Pool::may_make() noexcept {
  if (count_ < limits_.total) return true;
  // Closes the least recently used idle connection, of whatever host. Its place is free once it has
  // been removed.
  if (!idle_.empty()) retire(idle_.front());
  return count_ < limits_.total;
}

Pool::Lease Pool::lease(PooledConnection& connection) noexcept {
  const bool is_reused = connection.served_++ != 0;
  ++connection.leases_;
  leave_idle(connection);
  if (is_reused && meter_ != nullptr) meter_->reused();
  return {*this, connection, is_reused};
}

void Pool::give_back(PooledConnection& connection) noexcept {
  auto& group = *static_cast<Group*>(connection.group_);
  if (is_closing_) removed_.wake_all();  // the remaining leases may all be held
  if (--connection.leases_ == 0) {
    if (is_closing_ || connection.capacity() == 0) {
      connection.close();
    } else {
      make_idle(connection, group);
    }
  }
  serve();
}

void Pool::make_idle(PooledConnection& connection, Group& group) noexcept {
  connection.idle_since_ = loop_.now();
  idle_.push_back(connection);
  ++idle_count_;
  if (meter_ != nullptr) meter_->more(Gauge::Idle);
  group.idle.push_back(&connection);
  if (group.is_shared) {
    const auto own = place_of(connection, group);
    std::rotate(own, own + 1, group.connections.end());
  }
  start_timer();
}

void Pool::leave_idle(PooledConnection& connection) noexcept {
  if (!connection.is_linked()) return;
  connection.unlink();
  --idle_count_;
  if (meter_ != nullptr) meter_->fewer(Gauge::Idle);
  std::vector<PooledConnection*>& idle = static_cast<Group*>(connection.group_)->idle;
  const auto own = std::find(idle.rbegin(), idle.rend(), &connection);  // usually the last
  idle.erase(std::next(own).base());
}

// The end of connections -------------------------------------------------------------------------

std::unique_ptr<PooledConnection> Pool::remove(PooledConnection& connection) noexcept {
  auto& group = *static_cast<Group*>(connection.group_);
  const auto own = place_of(connection, group);
  std::unique_ptr<PooledConnection> removed = std::move(*own);
  group.connections.erase(own);
  leave_idle(connection);
  --count_;
  if (meter_ != nullptr) meter_->fewer(Gauge::Open);
  forget_if_empty(group);
  serve();
  removed_.wake_all();
  return removed;
}

void Pool::close_all() noexcept {
  is_closing_ = true;
  idle_.for_each([this](PooledConnection& connection) { retire(connection); });
}

void Pool::retire(PooledConnection& connection) noexcept {
  leave_idle(connection);
  connection.close();
}

Task<> Pool::closed() {
  while (is_awaited()) co_await removed_.wait();
}

bool Pool::is_awaited() const noexcept {
  std::size_t held = 0;
  for (const auto& [key, group] : groups_) {
    held += static_cast<std::size_t>(
        std::ranges::count_if(group->connections, [](const auto& connection) {
          return connection->leases_ != 0 && connection->leases_ == connection->held_;
        }));
  }
  return count_ != held;
}

void Pool::close_idle() noexcept {
  const loop::Instant now = loop_.now();
  idle_.for_each([&](PooledConnection& connection) {
    if (now - connection.idle_since_ >= limits_.idle) retire(connection);
  });
  start_timer();
}

// Starts the timer for the connection that has been idle the longest.
void Pool::start_timer() noexcept {
  if (idle_.empty()) return timer_.stop();
  const Duration left = limits_.idle - (loop_.now() - idle_.front().idle_since_);
  timer_.start(std::clamp(left, Duration(0), Duration(24h)));  // long limits take several rounds
}

}  // namespace skua::client
