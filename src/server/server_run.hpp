// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "net/address.hpp"
#include "server/worker.hpp"
#include "skua/counters.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "skua/server.hpp"

namespace skua::server {

/// What is the same in every life of a server.
struct ServerSetup {
  const Router& router;
  ServerOptions options;
  loop::SteadyClock clock{};
};

/// One life of a server, from a start to its end: workers and the threads they run on.
///
/// Its threads share it, so that a server may be dropped on one of them. All but start() may be
/// called from any thread.
class ServerRun final : public std::enable_shared_from_this<ServerRun> {
 public:
  /// Listens. Everything that can fail for the world's sake fails here.
  static Result<std::shared_ptr<ServerRun>, Problem> create(
      std::shared_ptr<const ServerSetup> setup);
  /// `setup` is shared with the server, which may go first.
  explicit ServerRun(std::shared_ptr<const ServerSetup> setup);
  ServerRun(const ServerRun&) = delete;
  ServerRun& operator=(const ServerRun&) = delete;
  ~ServerRun();

  /// Ends with: SystemFailure, OutOfMemory where no more threads can be had; then nothing runs.
  Result<void> start();

  /// Finishes the requests in progress, and cancels what is left at the deadline.
  void begin_drain(Duration deadline);
  void cancel();
  /// Waits for the end and joins the threads; returns at once on a thread of its own.
  void wait();

  [[nodiscard]] ServerState state() const;
  [[nodiscard]] const net::Address& address() const noexcept { return address_; }
  [[nodiscard]] BackendChoice backend() const noexcept { return workers_.front()->backend(); }
  [[nodiscard]] tls::ReloadableContext* tls() const noexcept { return shared_.tls.get(); }
  [[nodiscard]] ws::Hub& hub() noexcept { return shared_.hub; }
  void add_to(Counters& sum) const noexcept;

 private:
  Result<void, Problem> prepare();
  Result<void> prepare_workers();
  Result<void> limit_connections();
  Result<void, Problem> prepare_tls();
  Result<void> listen();
  Result<void> listen_on_all(const net::Address& wanted);
  Result<void> listen_on_first(const net::Address& wanted);
  [[nodiscard]] bool is_own_thread() const noexcept;
  Error give_up(Error why);
  void run(Worker& worker);
  void threads_ended(std::size_t count);

  const std::shared_ptr<const ServerSetup> setup_;
  SharedState shared_;
  net::Address address_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex joining_;
  std::vector<std::thread> threads_;  // guarded by joining_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t running_ = 0;  // threads; guarded by mutex_, as the next
  ServerState state_ = ServerState::Running;
};

/// Tells a server's log what its certificates lack.
void warn_of_certificates(const ServerOptions& options, const tls::ReloadableContext& context);

}  // namespace skua::server
