// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "loop/clock.hpp"
#include "redis/backoff.hpp"
#include "redis/batch.hpp"
#include "redis/connection.hpp"
#include "redis/settings.hpp"
#include "skua/async.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua::redis {

/// A server, and the connections to it: one that all commands share, and those of commands that
/// block. Keeps commands while the server is away.
///
/// Lifetime: shared by its owner and the tasks that wait for it.
class Node final {
 public:
  /// Finds out where the server is, each time before connecting to it.
  using Locate = std::function<Task<Result<Endpoint, Problem>>()>;
  /// The fate of commands that were not sent, without a connection.
  enum class Away : std::uint8_t {
    Keep,  ///< they wait for the next attempt
    Fail,  ///< they fail, so that the caller can ask for another node
  };

  Node(std::shared_ptr<const Settings> settings, Locate locate, Role role, Away away);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();

  /// Runs a batch to its end: its replies, or a failure. `is_alone` gives it a connection of its
  /// own. Dropping the task abandons the batch.
  static Task<> run(std::shared_ptr<Node> self, BatchPtr batch, bool is_alone,
                    loop::Instant deadline);
  /// Leaves the connections of a batch's generation, unless that has been done: the server has
  /// another role now.
  void leave(std::uint64_t generation, const Problem& why) noexcept;
  /// The server has another place now: leaves the connections to others.
  void move_to(const Endpoint& place, const Problem& why);
  /// Fails all, and later batches too.
  void close(const Problem& why) noexcept;

 private:
  class Held;
  class Lending;

  void submit(const BatchPtr& batch);
  void start_connecting();
  void withdraw(const Batch& batch) noexcept;
  [[nodiscard]] bool has_room(std::size_t count, std::uint64_t bytes,
                              const Batch& batch) const noexcept;
  [[nodiscard]] Problem overloaded() const;
  Task<> keep_connected();
  Task<bool> connect_once();
  bool connected(Connection::Self connection);
  void fail_queue(const Problem& why) noexcept;
  void not_connected(const Problem& why) noexcept;
  void leave_all(const Problem& why) noexcept;
  void leave_shared(const Problem& why) noexcept;
  Task<Result<Connection::Self, Problem>> open();
  [[nodiscard]] bool is_current(const Connection& connection) const noexcept;
  [[nodiscard]] bool keeps_trying(const Problem& why) const noexcept;
  [[nodiscard]] Problem timed_out(const Batch& batch) const;
  static Task<> run_alone(std::shared_ptr<Node> self, BatchPtr batch, loop::Instant deadline);
  static Task<> wait(Batch& batch, loop::Instant deadline);

  std::shared_ptr<const Settings> settings_;  // shared with all of the client
  Locate locate_;
  Role role_;
  Away away_;
  Connection::Self shared_{};
  std::deque<BatchPtr> queue_;  // not sent yet
  std::size_t queue_bytes_ = 0;
  std::vector<Connection::Self> idle_;  // for the next blocking command
  Lending* lent_ = nullptr;             // the first one
  std::size_t lent_count_ = 0;
  std::uint64_t generation_ = 0;     // how often connections were left
  std::uint64_t located_ = 0;        // how often move_to() told the place
  std::optional<Endpoint> place_{};  // the newest that is known; nullopt: unknown
  Backoff backoff_;
  loop::Instant next_attempt_{};
  std::optional<Problem> last_problem_{};  // of connecting, since it last succeeded
  std::optional<Problem> end_{};
  bool is_connecting_ = false;
  Scope tasks_;  // the last member: its task uses the others
};

}  // namespace skua::redis
