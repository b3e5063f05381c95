// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loop/clock.hpp"
#include "redis/batch.hpp"
#include "redis/connection.hpp"
#include "redis/settings.hpp"
#include "skua/error.hpp"
#include "skua/redis.hpp"
#include "skua/task.hpp"

namespace skua::redis {

/// Whether commands are a transaction.
enum class Atomicity : std::uint8_t { None, Transaction };

/// Decides which server gets which command: one server, the master that Sentinels tell, or the
/// nodes of a cluster.
///
/// Lifetime: shared by the client and the tasks that wait.
class Topology {
 public:
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  virtual ~Topology() = default;

  /// Runs commands, and returns a result for each; of a transaction, also for its MULTI and EXEC.
  virtual Task<Replies> perform(std::vector<Command> commands, Atomicity atomicity,
                                loop::Instant deadline) = 0;
  /// Returns the server for subscriptions; to shard channels: that of their slot.
  virtual Task<Result<Endpoint, Problem>> place_of(std::optional<std::uint16_t> slot) = 0;
  /// The place that place_of() returned was wrong.
  virtual void misplaced() = 0;
  /// Returns what its servers have to be.
  [[nodiscard]] virtual Role role() const noexcept = 0;
  /// Fails all that wait, and later commands.
  virtual void close(const Problem& why) noexcept = 0;
};

/// Makes the topology for an Options::mode, on the current loop.
std::shared_ptr<Topology> make_topology(const std::shared_ptr<const Settings>& settings);

// For topologies.

/// The room for what waits: for a place, a connection, a reply or the next attempt.
class Room final {
 public:
  explicit Room(const Options& options) noexcept : options_(options) {}

  /// The room that commands take as long as it lives; false if there was none.
  class Taken final {
   public:
    /// `servers` says how many have to do with it.
    Taken(Room& room, std::span<const Command> commands, std::size_t servers = 1) noexcept;
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken();
    explicit operator bool() const noexcept { return is_taken_; }

   private:
    Room& room_;
    std::size_t bytes_ = 0;
    bool is_blocking_;
    bool is_taken_ = false;
  };

 private:
  const Options& options_;  // of the settings, which the owner keeps
  std::size_t count_ = 0;
  std::size_t blocking_count_ = 0;
  std::size_t bytes_ = 0;
};

/// Returns the results of commands that there was no room for.
Replies refused(std::span<const Command> commands, Atomicity atomicity);

/// Whether a batch comes after an ASK redirection.
enum class Asking : std::uint8_t { No, Yes };

/// Returns commands as a batch.
BatchPtr make_batch(std::span<const Command> commands, Atomicity atomicity,
                    Asking asking = Asking::No);
/// Returns a result for each command of a batch that is done.
Replies results_of(Batch& batch, Asking asking = Asking::No);
/// Reports whether one of the commands blocks.
bool has_blocking(std::span<const Command> commands) noexcept;
/// Reports whether a transaction has begun. If MULTI was refused, its commands were executed one by
/// one.
bool has_begun(const Replies& results) noexcept;
/// Returns the error that a server replied, or an empty view.
std::string_view replied_error(const Result<Reply, Problem>& result) noexcept;

}  // namespace skua::redis
