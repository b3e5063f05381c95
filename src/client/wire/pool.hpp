// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/intrusive_list.hpp"
#include "client/meter.hpp"
#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

class Pool;

/// A connection that requests may share, one after another or (HTTP/2) concurrently.
///
/// The pool owns it once it is connected, until it calls Pool::remove().
class PooledConnection : public base::ListNode {
 public:
  virtual ~PooledConnection() = default;

  /// How many requests it takes at once, including current ones; 0 if it takes no more, e.g.
  /// because it must be closed.
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
  /// Begins to close; Pool::remove() follows, at once or later. Called only without leases.
  virtual void close() = 0;

 protected:
  /// Reports whether it has leases: then it must not close itself.
  [[nodiscard]] bool is_leased() const noexcept { return leases_ != 0; }

 private:
  friend class Pool;

  using Places = std::list<PooledConnection*>;

  void* group_ = nullptr;  // the pool's Group for its key
  std::size_t index_ = 0;  // in the group
  Places own_place_;       // while it is not among those of its group that may have room
  Places::iterator place_{};
  std::size_t leases_ = 0;      // current requests
  std::size_t held_ = 0;        // those whose response a program holds
  std::uint64_t served_ = 0;    // requests so far
  loop::Instant idle_since_{};  // without leases
};

/// How many connections a client may have, and how long they are kept.
struct PoolLimits {
  std::size_t per_host = 8;  ///< connections with one key
  std::size_t total = 256;   ///< with any key; an idle one makes room for another host's
  Duration idle = 50s;       ///< a connection is closed after being unused for this long
};

/// A pool of connections, keyed by all that makes them interchangeable: the origin, and every TLS,
/// proxy and authentication setting that they were made with.
///
/// Lifetime:  one loop. It outlives its leases and the tasks from acquire().
class Pool final {
 public:
  /// Makes a connection, on behalf of the request that it captures.
  using Connect = std::function<Task<Result<std::unique_ptr<PooledConnection>, Problem>>()>;
  /// Whether a connection may turn out to have room for several requests. Must be equal for all
  /// requests with one key.
  enum class Sharing : std::uint8_t { None, Possible };

  /// One request's share of a connection, given back by the destructor.
  class Lease {
   public:
    Lease() noexcept = default;
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          connection_(std::exchange(other.connection_, nullptr)),
          is_reused_(other.is_reused_),
          is_held_(std::exchange(other.is_held_, false)) {}
    Lease& operator=(Lease&& other) noexcept {
      if (this == &other) return *this;
      release();
      pool_ = std::exchange(other.pool_, nullptr);
      connection_ = std::exchange(other.connection_, nullptr);
      is_reused_ = other.is_reused_;
      is_held_ = std::exchange(other.is_held_, false);
      return *this;
    }
    ~Lease() { release(); }

    explicit operator bool() const noexcept { return connection_ != nullptr; }
    [[nodiscard]] PooledConnection& connection() const noexcept { return *connection_; }
    /// Reports whether it has served other requests before, and so may have died meanwhile.
    [[nodiscard]] bool is_reused() const noexcept { return is_reused_; }
    /// Leaves it to the program when to give this back; Pool::closed() does not wait for it.
    void hold() noexcept;
    void release() noexcept;

   private:
    friend class Pool;
    Lease(Pool& pool, PooledConnection& connection, bool is_reused) noexcept
        : pool_(&pool), connection_(&connection), is_reused_(is_reused) {}

    Pool* pool_ = nullptr;
    PooledConnection* connection_ = nullptr;
    bool is_reused_ = false;
    bool is_held_ = false;
  };

  /// `meter` is told of connections; null: nobody is.
  Pool(loop::Loop& loop, const PoolLimits& limits, Meter* meter = nullptr);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// All connections must be gone: close_all() was called, and each was removed.
  ~Pool();

  /// Returns a connection for a key: the most recently used one with room, else a new one, else the
  /// first that becomes free. Waiters are served in FIFO order.
  ///
  /// If sharing is possible, connections are made one at a time, and later requests wait to see
  /// whether they can share it; unless the last one had no room for others, or could not be made.
  ///
  /// If a connection cannot be made for want of descriptors or ports, the request waits for one
  /// that is in use, and tries again from time to time.
  ///
  /// Waits for: a free connection, at most `limit`; then for `connect`, without a limit.
  /// Ends with: TimedOut if none became free; the errors of `connect`.
  Task<Result<Lease, Problem>> acquire(std::string key, std::string whom, Duration limit,
                                       Connect connect, Sharing sharing = Sharing::None);

  /// Returns at once what acquire() would return without waiting; an empty lease if that would be
  /// nothing, or a connection that has to be made.
  [[nodiscard]] Lease take_free(const std::string& key) noexcept;

  /// Call it if a connection takes more requests than before: the peer allows more streams.
  void capacity_grew(PooledConnection& connection) noexcept;
  /// Closes the idle connections with the key of this one, which has turned out to be dead while it
  /// was idle: they may be, too.
  void close_idle_beside(const PooledConnection& dead) noexcept;
  /// Forgets a closed connection. The caller becomes its owner.
  std::unique_ptr<PooledConnection> remove(PooledConnection& connection) noexcept;
  /// Closes idle connections now, and the others once they are unused.
  void close_all() noexcept;
  /// Waits for: the end of all connections, after close_all(), except those whose leases are all
  ///            held.
  Task<> closed();

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t idle_count() const noexcept { return idle_count_; }

 private:
  struct Group;
  class Turn;
  class MeteredWait;
  using Gauge = Meter::Gauge;

  /// The groups whose first waiting request only needs a place among `total`, by its number.
  using Makers = std::map<std::uint64_t, Group*>;

  Group& group_of(const std::string& key, Sharing sharing);
  [[nodiscard]] static Group& group_of(const PooledConnection& connection) noexcept;
  void learn(Group& group, bool is_shared) noexcept;
  void forget_if_empty(Group& group) noexcept;
  void serve(Group& news) noexcept;
  void lend(Group& group) noexcept;
  void place(Group& group) noexcept;
  [[nodiscard]] bool is_full(const Group& group) const noexcept;
  [[nodiscard]] static PooledConnection* find_free(Group& group) noexcept;
  static void note_room(PooledConnection& connection) noexcept;
  static void forget_room(PooledConnection& connection) noexcept;
  Task<bool> wait_in_line(Turn& turn, loop::Instant deadline, bool may_insist);
  [[nodiscard]] bool may_make() noexcept;
  [[nodiscard]] bool lacks_means(const Group& group, Error error) noexcept;
  Lease lease(PooledConnection& connection) noexcept;
  void give_back(PooledConnection& connection, bool was_held) noexcept;
  void hold(PooledConnection& connection) noexcept;
  void make_idle(PooledConnection& connection) noexcept;
  void leave_idle(PooledConnection& connection) noexcept;
  void retire(PooledConnection& connection) noexcept;
  void close_idle() noexcept;
  void start_timer() noexcept;

  loop::Loop& loop_;
  const PoolLimits limits_;
  Meter* const meter_;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;
  std::unordered_set<std::string> unshared_;  // keys whose last connection took one request only
  base::IntrusiveList<Group> news_;           // to be served
  Makers makers_;
  base::IntrusiveList<PooledConnection> idle_;  // the most recently used last
  std::size_t count_ = 0;                       // connections, including those being made
  std::size_t idle_count_ = 0;
  std::size_t held_count_ = 0;  // connections whose leases are all held
  loop::Timer timer_;
  skua::detail::WaiterList removed_;
  std::uint64_t turns_ = 0;  // so far
  bool is_closing_ = false;
  bool is_serving_ = false;
};

}  // namespace skua::client
