// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "server/accept_filter.hpp"
#include "server/connection.hpp"
#include "server/resources.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "sockets/acceptor.hpp"
#include "tls/certificate_watch.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::server {

/// State shared by all workers of a server. It is touched when a connection opens or closes, when a
/// handler offloads work, and when content is kept; not by a request that arrives complete.
struct SharedState {
  explicit SharedState(const ServerOptions& options = {})
      : connections{.cap = options.limits.connections},
        pool(options.offload_threads, options.offload_queue),
        content_budget(options.limits) {}

  sockets::ConnectionCount connections;
  loop::WorkerPool pool;
  ContentBudget content_budget;
  std::atomic<std::uint64_t> connection_ids{0};
  ws::Hub hub{};
  std::unique_ptr<tls::ReloadableContext> tls{};  ///< null without TLS
};

/// One thread of a server: its loop, its listeners, its connections.
///
/// All members but begin_drain() and add_to() are for the thread that runs the worker.
class Worker final : private ConnectionOwner, private sockets::AcceptorOwner {
 public:
  /// `options`, `router` and `shared` must outlive the worker.
  static Result<std::unique_ptr<Worker>> create(const Router& router, const ServerOptions& options,
                                                SharedState& shared,
                                                const loop::Clock* clock = nullptr);
  ~Worker();

  /// Where its connections come from. Add listeners before run().
  [[nodiscard]] sockets::Acceptor& acceptor() noexcept { return acceptor_; }
  /// Checks for changed certificates every TlsOptions::reload_interval, on behalf of all workers.
  /// Call it before run().
  void watch_certificates();
  /// Serves until drained or cancelled.
  void run();
  /// Runs one turn of the loop, for tests.
  void run_once(Duration max_wait) { loop_->run_once(max_wait); }
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

  /// Stops listening, finishes requests in progress, and then ends run(). Closes the remaining
  /// connections at the deadline; of several calls, the earliest deadline holds. Thread-safe.
  void begin_drain(Duration deadline = Duration::max());

  void add_to(Counters& sum) const noexcept;
  [[nodiscard]] BackendChoice backend() const noexcept { return loop_->backend().kind(); }
  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }
  /// Serves a stream of any kind. Call it on the worker's thread.
  void serve(std::unique_ptr<net::Stream> stream) override;

 private:
  Worker(std::unique_ptr<loop::Loop> loop, const Router& router, const ServerOptions& options,
         SharedState& shared);

  Socket admit(Socket connection) override { return filter_.admit(std::move(connection)); }
  void on_accept_paused(Error why) noexcept override;
  void on_accept_failed() noexcept override;
  void on_accept_progress() noexcept override { end_if_done(); }
  void connection_closed(Connection& connection) noexcept override;

  void drain(Duration deadline);
  void stop_taking();
  void close_all() noexcept;
  void note_pressure() noexcept;
  void end_if_done() noexcept;

  const ServerOptions& options_;
  SharedState& shared_;
  std::unique_ptr<loop::Loop> loop_;
  Resources resources_;
  std::unique_ptr<sockets::StreamWrapper> header_reader_;  // null without PROXY headers
  AcceptFilter filter_;
  sockets::Acceptor acceptor_;
  base::IntrusiveList<Connection> connections_;
  std::optional<tls::CertificateWatch> certificate_watch_;
  loop::Timer drain_timer_;
  loop::Instant drained_by_ = loop::Instant::max();
  bool is_done_ = false;
  bool is_closed_ = false;  // the deadline has passed, also for tasks that finish
};

}  // namespace skua::server
