// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

class Pool;

/// A connection that requests may share, one after the other or (HTTP/2) side by side.
///
/// The pool owns it from the moment that it was connected, and destroys it when it says so.
class PooledConnection : public base::ListNode {
 public:
  virtual ~PooledConnection() = default;

  /// How many requests it takes at once, those that it has included; 0: no further one, also where
  /// it is to be closed.
  [[nodiscard]] virtual std::size_t capacity() const noexcept = 0;
  /// Begins to close; Pool::remove() follows, then or later. Called where nobody has a lease.
  virtual void close() = 0;

 protected:
  /// Whether somebody has a lease: then it is not for the connection itself to close.
  [[nodiscard]] bool is_leased() const noexcept { return leases_ != 0; }

 private:
  friend class Pool;

  void* group_ = nullptr;       // of the pool: those with the same key
  std::size_t leases_ = 0;      // requests that it has now
  std::size_t held_ = 0;        // those of which a program holds the response
  std::uint64_t served_ = 0;    // requests that it has had before
  loop::Instant idle_since_{};  // without a lease
};

/// How many connections a client may have, and for how long they are kept.
struct PoolLimits {
  std::size_t per_host = 8;  ///< connections of one key
  std::size_t total = 256;   ///< of all keys; an idle one makes room for another host's
  Duration idle = 50s;       ///< a connection that nobody has used for so long is closed
};

/// Connections by what makes them exchangeable: the origin, and every setting of TLS, proxy and
/// authentication that they were made with.
///
/// Lifetime:  one loop. It outlives its leases, and the tasks that acquire() gave.
class Pool final {
 public:
  /// Makes a connection; on whose behalf is in what it captures.
  using Connect = std::function<Task<Result<std::unique_ptr<PooledConnection>, Problem>>()>;
  /// Whether a connection may turn out to have room for several requests: the same for all requests
  /// with one key.
  enum class Sharing : std::uint8_t { None, Possible };

  /// One request's share of a connection. Destroyed, it gives that back.
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
    /// Whether it has served others before: then it may have died meanwhile.
    [[nodiscard]] bool is_reused() const noexcept { return is_reused_; }
    /// It is up to the program when this is given back; Pool::closed() does not wait for it.
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

  Pool(loop::Loop& loop, const PoolLimits& limits);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  /// Every connection is gone: close_all() was called, and each was removed.
  ~Pool();

  /// A connection for a key: the one that was used last among those that have room, else a new one,
  /// else the first that becomes free. Who has waited longest is first.
  ///
  /// Where sharing is possible, one is made at a time, and who comes meanwhile waits for what it
  /// turns out to be; unless the last one had no room for others, or could not be made.
  ///
  /// Waits for: a free connection, at most `limit`; then for a new one, as long as that takes.
  /// Ends with: TimedOut where none became free; what `connect` ends with.
  Task<Result<Lease, Problem>> acquire(std::string key, std::string whom, Duration limit,
                                       Connect connect, Sharing sharing = Sharing::None);

  /// Some connection takes more requests than before: the peer allows more streams.
  void capacity_grew() noexcept { serve(); }
  /// A connection is closed: the pool forgets it. Its owner is whoever called.
  std::unique_ptr<PooledConnection> remove(PooledConnection& connection) noexcept;
  /// Closes those that nobody uses, and the others once nobody does.
  void close_all() noexcept;
  /// Waits for: the end of all connections, after close_all(); but for those that serve nothing
  ///            but leases that are held.
  Task<> closed();

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] std::size_t idle_count() const noexcept { return idle_count_; }

 private:
  struct Group;
  class Turn;

  Group& group_of(const std::string& key, Sharing sharing);
  void learn(Group& group, bool is_shared) noexcept;
  void forget_if_empty(Group& group) noexcept;
  void serve(Turn* newcomer = nullptr) noexcept;
  void serve_one(Turn& turn) noexcept;
  [[nodiscard]] static PooledConnection* find_free(Group& group) noexcept;
  [[nodiscard]] bool may_make() noexcept;
  [[nodiscard]] bool is_awaited() const noexcept;
  [[nodiscard]] static auto place_of(const PooledConnection& connection, Group& group) noexcept;
  Lease lease(PooledConnection& connection) noexcept;
  void give_back(PooledConnection& connection) noexcept;
  void make_idle(PooledConnection& connection, Group& group) noexcept;
  void leave_idle(PooledConnection& connection) noexcept;
  void retire(PooledConnection& connection) noexcept;
  void close_idle() noexcept;
  void start_timer() noexcept;

  loop::Loop& loop_;
  const PoolLimits limits_;
  std::unordered_map<std::string, std::unique_ptr<Group>> groups_;
  std::unordered_set<std::string> unshared_;  // keys whose last connection took one request only
  base::IntrusiveList<Turn> line_;
  base::IntrusiveList<PooledConnection> idle_;  // the one that was used last is at the end
  std::size_t count_ = 0;                       // connections, and those that are being made
  std::size_t idle_count_ = 0;
  loop::Timer timer_;
  skua::detail::WaiterList removed_;
  std::uint64_t walks_ = 0;  // along the line
  bool is_closing_ = false;
  bool is_serving_ = false;
  bool has_news_ = false;
};

}  // namespace skua::client
