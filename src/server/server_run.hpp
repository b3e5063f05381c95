// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "net/socket.hpp"
#include "server/worker.hpp"
#include "skua/address.hpp"
#include "skua/counters.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"

namespace skua::server {

/// Returns Limits::connections, lowered if necessary to fit the limit on open files. A reserve
/// remains for listeners, loops, files opened by requests, lookups, and clients in the program.
///
/// `open_files` is the limit; `taken` is the number of files open before the server starts. Returns
/// 0 if the server could not even listen.
std::size_t connection_cap(const ServerOptions& options, std::size_t open_files,
                           std::size_t taken) noexcept;

/// Wraps hooks so that they never throw. Their exceptions go to the log hook, whose own exceptions
/// are dropped.
Hooks guarded(Hooks hooks);

/// The setup shared by all runs of a server.
struct ServerSetup {
  const Router& router;
  ServerOptions options;
  loop::SteadyClock clock{};
  /// Whether each worker listens for itself. Otherwise the first one hands connections to the
  /// others.
  bool system_balances = net::balances_listeners;
};

/// One run of a server, from start to end: its workers and their threads.
///
/// Its threads share it, so that a server may be destroyed on one of them. All members but start()
/// and abandon() are thread-safe.
class ServerRun final : public std::enable_shared_from_this<ServerRun> {
 public:
  /// Creates the workers and listens. Only starting the threads may still fail afterwards.
  static Result<std::shared_ptr<ServerRun>, Problem> create(
      std::shared_ptr<const ServerSetup> setup);
  /// `setup` is shared with the server, which may be destroyed first.
  explicit ServerRun(std::shared_ptr<const ServerSetup> setup);
  ServerRun(const ServerRun&) = delete;
  ServerRun& operator=(const ServerRun&) = delete;
  ~ServerRun();

  /// Ends with: SystemFailure or OutOfMemory if a thread cannot be started; the run is cancelled.
  Result<void> start();
  /// Ends a run that is not going to be started.
  void abandon() { threads_ended(0); }

  /// Finishes requests in progress, and cancels the rest at the deadline. The first call waits for
  /// Timeouts::drain_delay before that, unless the deadline is zero.
  void begin_drain(Duration deadline);
  void cancel();
  /// Waits for the end and joins the threads. Returns at once on one of the run's own threads.
  void wait();

  /// See the functions of Server.
  [[nodiscard]] std::vector<ListeningSocket> listening_sockets();
  void share_listening_sockets();
  /// Calls `call` on each worker's thread, and returns the number of workers; 0 after the end.
  std::size_t post_to_workers(const std::function<void()>& call);

  [[nodiscard]] ServerState state() const;
  /// The addresses of the listeners; at least one.
  [[nodiscard]] const std::vector<Address>& addresses() const noexcept { return addresses_; }
  [[nodiscard]] BackendChoice backend() const noexcept { return workers_.front()->backend(); }
  [[nodiscard]] tls::ReloadableContext* tls() const noexcept { return shared_.tls.get(); }
  [[nodiscard]] ws::Hub& hub() noexcept { return shared_.hub; }
  void add_to(Counters& sum) const;

 private:
  Result<void, Problem> prepare();
  Result<void, Problem> prepare_workers();
  Result<void> limit_connections();
  Result<void, Problem> prepare_tls();
  Result<void, Problem> listen();
  Result<void, Problem> listen_on_shared();
  Result<void> listen_on_all(const Address& wanted);
  Result<void> listen_on_first(const Address& wanted);
  [[nodiscard]] bool is_own_thread() const noexcept;
  [[nodiscard]] std::string name_of(const Address& address) const;
  Error give_up(Error why);
  void run(Worker& worker);
  void start_delay(Duration deadline);
  void threads_ended(std::size_t count);

  const std::shared_ptr<const ServerSetup> setup_;
  SharedState shared_;
  std::vector<Address> addresses_;
  std::string own_path_;  // of the Unix socket that the run has to remove, or empty
  std::mutex joining_;
  std::vector<std::thread> threads_;  // guarded by joining_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;  // threads; guarded by mutex_, like state_
  ServerState state_ = ServerState::Running;
  bool are_sockets_shared_ = false;  // guarded by mutex_
  Duration deadline_after_delay_{};
  // Late, as a worker whose thread never ran runs its posts when it ends, and they use the others.
  std::vector<std::unique_ptr<Worker>> workers_;
  std::optional<loop::Timer> delay_timer_;  // of the first worker
};

}  // namespace skua::server
