// SPDX-License-Identifier: MIT
// Requests for a connection wait in a line for each host. An event (a connection given back,
// removed, or with more capacity) serves its host's line from the front with leases. A host whose
// first request could make a connection, but for the limit in total, waits among the makers:
// the one that came first gets the next place, which counts as a connection from then on. No
// event walks over requests, hosts or connections that it does not change.
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
constexpr Duration shortage_pause = 50ms;     // before another try to make a connection

}  // namespace

/// The connections with one key, and the requests that wait for one.
struct Pool::Group : base::ListNode {
  std::string key{};
  std::vector<std::unique_ptr<PooledConnection>> connections{};
  // Those that had room when they were last looked at; the most recently used last.
  PooledConnection::Places with_room{};
  base::IntrusiveList<Turn> line{};
  Makers::node_type place{};           // among the makers; empty while it is there
  Makers::iterator place_in_makers{};  // while it is there
  std::size_t making = 0;              // connections being made
  std::size_t turns = 0;               // those who refer to it: requests, and remove()
  Sharing sharing = Sharing::None;
  bool is_one_by_one = false;  // makes one at a time, as each may have room for all waiters
  bool is_short = false;       // of descriptors or ports: only who insists makes one
};

/// A place in the line. Holds its outcome until that is taken.
class Pool::Turn final : public base::ListNode {
 public:
  Turn(Pool& pool, Group& group) : pool_(pool), group_(group), number_(++pool.turns_) {
    ++group.turns;
    group.line.push_back(*this);
    pool.serve(group);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    lease_.release();
    unlink();
    pool_.place(group_);
    if (may_make_) {
      --group_.making;
      --pool_.count_;
      if (pool_.meter_ != nullptr) pool_.meter_->fewer(Gauge::Connecting);
      pool_.removed_.wake_all();  // closed() waits for this one, too
      pool_.serve(group_);
    }
    // During a shortage, the next one tries whether it is over.
    if (group_.is_short && !group_.line.empty()) group_.line.front().served_.wake_all();
    --group_.turns;
    pool_.forget_if_empty(group_);
  }

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool is_served() const noexcept { return lease_ || may_make_; }
  [[nodiscard]] bool may_make() const noexcept { return may_make_; }
  [[nodiscard]] bool is_short() const noexcept { return group_.is_short; }
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
  /// Stops waiting for connections made for others. Returns whether that helped.
  bool insists() noexcept {
    const bool has_place = !pool_.is_full(group_) && pool_.may_make();
    if (has_place && !is_served()) let_make();
    pool_.place(group_);
    return is_served();
  }
  /// Stands in line again, as nothing can be made at present.
  void stand_again() noexcept {
    may_make_ = false;
    --group_.making;
    --pool_.count_;
    if (pool_.meter_ != nullptr) pool_.meter_->fewer(Gauge::Connecting);
    group_.is_short = true;
    group_.line.push_back(*this);
    pool_.removed_.wake_all();
    pool_.serve(group_);  // its place may be of use to others
  }
  /// Reserves memory, so that made() cannot fail.
  void prepare() {
    const std::size_t count = group_.connections.size() + group_.making;
    group_.connections.reserve(count);
    if (place_.empty()) place_.push_back(nullptr);
  }
  /// Adds the new connection to the pool.
  Lease made(std::unique_ptr<PooledConnection> connection) noexcept {
    PooledConnection& added = *connection;
    added.group_ = &group_;
    added.index_ = group_.connections.size();
    added.own_place_ = std::move(place_);
    added.own_place_.front() = &added;
    added.place_ = added.own_place_.begin();
    group_.with_room.splice(group_.with_room.end(), added.own_place_);
    group_.connections.push_back(std::move(connection));
    --group_.making;
    may_make_ = false;
    if (pool_.meter_ != nullptr) {
      pool_.meter_->fewer(Gauge::Connecting);
      pool_.meter_->more(Gauge::Open);
    }
    pool_.learn(group_, added.capacity() > 1);
    Lease own = pool_.lease(added);
    pool_.serve(group_);  // it may have room for others, or they may make their own
    if (group_.is_short && !group_.line.empty()) static_cast<void>(group_.line.front().insists());
    return own;
  }
  /// Lets all waiters try for themselves, at once.
  void failed() noexcept { group_.is_one_by_one = false; }

 private:
  Pool& pool_;
  Group& group_;
  const std::uint64_t number_;  // in the order of all requests
  Lease lease_;
  PooledConnection::Places place_;  // of the connection that it makes
  bool may_make_ = false;
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

void Pool::Lease::hold() noexcept {
  if (connection_ == nullptr || is_held_) return;
  is_held_ = true;
  pool_->hold(*connection_);
}

void Pool::Lease::release() noexcept {
  if (connection_ == nullptr) return;
  const bool was_held = std::exchange(is_held_, false);
  std::exchange(pool_, nullptr)->give_back(*std::exchange(connection_, nullptr), was_held);
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
  const loop::Instant deadline = later(loop_.now(), limit);
  Group& group = group_of(key, sharing);
  Turn turn(*this, group);
  std::optional<Problem> shortage;
  while (true) {
    if (!turn.is_served()) {
      const bool is_in_time = co_await wait_in_line(turn, deadline, !shortage);
      if (!is_in_time && shortage) co_return *std::move(shortage);
      if (!is_in_time) {
        co_return timed_out("get one of the connections to " + whom + ", which are all in use",
                            {limit, "ClientTimeouts::queue", "none became free"});
      }
    }
    if (!turn.may_make()) co_return turn.take();
    turn.prepare();
    Result<std::unique_ptr<PooledConnection>, Problem> made = co_await connect();
    if (made) co_return turn.made(*std::move(made));
    if (!lacks_means(group, made.error().error)) {
      turn.failed();
      co_return made.error();
    }
    shortage = std::move(made).error();
    turn.stand_again();
  }
}

// Returns false if the time is over. At its end, one who has not tried makes its own.
Task<bool> Pool::wait_in_line(Turn& turn, loop::Instant deadline, bool may_insist) {
  const MeteredWait wait(meter_);
  const loop::Instant began = loop_.now();
  bool is_in_time = true;
  while (is_in_time && !turn.is_served()) {
    const Duration left = deadline - loop_.now();
    if (left <= Duration(0)) {
      is_in_time = may_insist && turn.insists();
    } else if (!turn.is_short()) {
      co_await TimedWait(loop_, turn.served(), left);
    } else {
      co_await TimedWait(loop_, turn.served(), std::min(left, shortage_pause));
      if (!turn.is_served()) static_cast<void>(turn.insists());
    }
  }
  wait.end(loop_.now() - began);
  co_return is_in_time;
}

Pool::Group& Pool::group_of(const std::string& key, Sharing sharing) {
  if (const auto found = groups_.find(key); found != groups_.end()) return *found->second;
  auto group = std::make_unique<Group>();
  group->key = key;
  group->sharing = sharing;
  group->is_one_by_one = sharing == Sharing::Possible && !unshared_.contains(key);
  Makers node;
  node.emplace(0, group.get());
  group->place = node.extract(node.begin());
  return *groups_.emplace(key, std::move(group)).first->second;
}

Pool::Group& Pool::group_of(const PooledConnection& connection) noexcept {
  return *static_cast<Group*>(connection.group_);
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

// A host's own connections are lent first: they are of no use to others while its requests wait.
void Pool::serve(Group& news) noexcept {
  if (!news.is_linked()) news_.push_back(news);
  if (is_serving_) return;
  is_serving_ = true;
  while (true) {
    if (!news_.empty()) {
      Group& group = news_.front();
      group.unlink();
      lend(group);
    } else if (!makers_.empty() && may_make() && !makers_.empty()) {
      Group& group = *makers_.begin()->second;
      group.line.front().let_make();
      place(group);
    } else if (news_.empty()) {
      break;
    }
  }
  is_serving_ = false;
}

void Pool::lend(Group& group) noexcept {
  while (!group.line.empty()) {
    PooledConnection* const free = find_free(group);
    if (free == nullptr) break;
    group.line.front().give(lease(*free));
  }
  place(group);
}

// Puts the group where it belongs among the makers.
void Pool::place(Group& group) noexcept {
  if (group.place.empty()) group.place = makers_.extract(group.place_in_makers);
  if (group.line.empty()) group.is_short = false;
  if (group.line.empty() || group.is_short || is_full(group)) return;
  if (group.is_one_by_one && group.making != 0) return;
  group.place.key() = group.line.front().number();
  group.place_in_makers = makers_.insert(std::move(group.place)).position;
}

bool Pool::is_full(const Group& group) const noexcept {
  return group.connections.size() + group.making >= limits_.per_host;
}

// Each that turns out to have no room is looked at again only when that may have changed.
PooledConnection* Pool::find_free(Group& group) noexcept {
  while (!group.with_room.empty()) {
    PooledConnection& last = *group.with_room.back();
    if (last.capacity() > last.leases_) return &last;
    forget_room(last);
  }
  return nullptr;
}

void Pool::note_room(PooledConnection& connection) noexcept {
  PooledConnection::Places& all = group_of(connection).with_room;
  if (!connection.own_place_.empty()) all.splice(all.begin(), connection.own_place_);
}

void Pool::forget_room(PooledConnection& connection) noexcept {
  PooledConnection::Places& own = connection.own_place_;
  if (own.empty()) own.splice(own.begin(), group_of(connection).with_room, connection.place_);
}

void Pool::capacity_grew(PooledConnection& connection) noexcept {
  note_room(connection);
  serve(group_of(connection));
}

bool Pool::may_make() noexcept {
  if (count_ < limits_.total) return true;
  // Closes the least recently used idle connection, of whatever host. Its place is free once it has
  // been removed.
  if (!idle_.empty()) retire(idle_.front());
  return count_ < limits_.total;
}

// Descriptors and ports come back when connections end. Those that are idle make room at once.
// Without a connection to the server, a missing address may just be the wrong one.
bool Pool::lacks_means(const Group& group, Error error) noexcept {
  const bool is_of_files = error.code() == Errc::TooManyOpenFiles;
  const bool is_of_ports = error.code() == Errc::AddressUnavailable && !group.connections.empty();
  if (is_of_files && !idle_.empty()) retire(idle_.front());
  return is_of_files || is_of_ports;
}

Pool::Lease Pool::lease(PooledConnection& connection) noexcept {
  const bool is_reused = connection.served_++ != 0;
  if (connection.leases_ != 0 && connection.leases_ == connection.held_) --held_count_;
  ++connection.leases_;
  leave_idle(connection);
  if (is_reused && meter_ != nullptr) meter_->reused();
  return {*this, connection, is_reused};
}

void Pool::hold(PooledConnection& connection) noexcept {
  if (++connection.held_ == connection.leases_) ++held_count_;
  removed_.wake_all();
}

void Pool::give_back(PooledConnection& connection, bool was_held) noexcept {
  if (connection.leases_ == connection.held_) --held_count_;
  if (was_held) --connection.held_;
  --connection.leases_;
  if (connection.leases_ != 0 && connection.leases_ == connection.held_) ++held_count_;
  if (is_closing_) removed_.wake_all();  // the remaining leases may all be held
  if (connection.leases_ != 0) {
    note_room(connection);
  } else if (is_closing_ || connection.capacity() == 0) {
    return connection.close();  // if that removes it, the group may be gone
  } else {
    make_idle(connection);
  }
  serve(group_of(connection));
}

void Pool::make_idle(PooledConnection& connection) noexcept {
  connection.idle_since_ = loop_.now();
  idle_.push_back(connection);
  ++idle_count_;
  if (meter_ != nullptr) meter_->more(Gauge::Idle);
  PooledConnection::Places& all = group_of(connection).with_room;
  forget_room(connection);
  all.splice(all.end(), connection.own_place_);
  start_timer();
}

void Pool::leave_idle(PooledConnection& connection) noexcept {
  if (!connection.is_linked()) return;
  connection.unlink();
  --idle_count_;
  if (meter_ != nullptr) meter_->fewer(Gauge::Idle);
}

// The end of connections -------------------------------------------------------------------------

std::unique_ptr<PooledConnection> Pool::remove(PooledConnection& connection) noexcept {
  Group& group = group_of(connection);
  std::unique_ptr<PooledConnection> removed = std::move(group.connections[connection.index_]);
  if (connection.index_ + 1 != group.connections.size()) {
    group.connections.back()->index_ = connection.index_;
    std::swap(group.connections[connection.index_], group.connections.back());
  }
  group.connections.pop_back();
  forget_room(connection);
  leave_idle(connection);
  if (connection.leases_ != 0 && connection.leases_ == connection.held_) --held_count_;
  --count_;
  if (meter_ != nullptr) meter_->fewer(Gauge::Open);
  ++group.turns;  // serving may remove another connection, and may not forget the group
  serve(group);
  --group.turns;
  forget_if_empty(group);
  removed_.wake_all();
  return removed;
}

void Pool::close_all() noexcept {
  is_closing_ = true;
  idle_.for_each([this](PooledConnection& connection) { retire(connection); });
}

// From the last to the first: one that is removed is replaced by the last.
void Pool::close_idle_beside(const PooledConnection& dead) noexcept {
  Group& group = group_of(dead);
  for (std::size_t i = group.connections.size(); i-- != 0;) {
    PooledConnection& connection = *group.connections[i];
    if (connection.is_linked()) retire(connection);
  }
}

void Pool::retire(PooledConnection& connection) noexcept {
  leave_idle(connection);
  forget_room(connection);
  connection.close();
}

Task<> Pool::closed() {
  while (count_ != held_count_) co_await removed_.wait();
}

void Pool::close_idle() noexcept {
  const loop::Instant now = loop_.now();
  while (!idle_.empty() && now - idle_.front().idle_since_ >= limits_.idle) retire(idle_.front());
  start_timer();
}

// Starts the timer for the connection that has been idle the longest.
void Pool::start_timer() noexcept {
  if (idle_.empty()) return timer_.stop();
  const Duration left = limits_.idle - (loop_.now() - idle_.front().idle_since_);
  timer_.start(std::clamp(left, Duration(0), Duration(24h)));  // long limits take several rounds
}

}  // namespace skua::client
