// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "loop/worker_pool.hpp"
#include "server/accept_filter.hpp"
#include "server/connection.hpp"
#include "server/resources.hpp"
#include "skua/error.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::server {

/// State shared by all workers of a server. It is touched when a connection opens or closes, when a
/// handler offloads work, and when content is kept; not by a request that arrives complete.
struct SharedState {
  explicit SharedState(const ServerOptions& options = {})
      : connection_cap(options.limits.connections),
        pool(options.offload_threads, options.offload_queue),
        content_budget(options.limits) {}

  std::atomic<std::size_t> open_connections{0};
  std::size_t connection_cap;  ///< set before the workers are made
  loop::WorkerPool pool;
  ContentBudget content_budget;
  std::atomic<std::uint64_t> connection_ids{0};
  ws::Hub hub{};
  std::unique_ptr<tls::ReloadableContext> tls{};  ///< null without TLS
};

/// One thread of a server: its loop, its listeners, its connections.
///
/// All members but begin_drain(), adopt() and add_to() are for the thread that runs the worker.
class Worker final : private ConnectionOwner {
 public:
  /// `options`, `router` and `shared` must outlive the worker.
  static Result<std::unique_ptr<Worker>> create(const Router& router, const ServerOptions& options,
                                                SharedState& shared,
                                                const loop::Clock* clock = nullptr);
  ~Worker();

  /// Accepts connections from this socket once the worker runs. Call it before run(). A drain first
  /// empties the system's queue of an own socket, and leaves that of a shared one to the others.
  enum class Queue : std::uint8_t { Own, Shared };
  void listen(Socket socket, Queue queue = Queue::Own);
  /// Offers accepted sockets to `receiver`, and serves those for which it returns false. Call it
  /// before run().
  void hand_over(std::function<bool(Socket&)> receiver) { receiver_ = std::move(receiver); }

  /// Checks for changed certificates every TlsOptions::reload_interval, on behalf of all workers.
  /// Call it before run().
  void watch_certificates();
  /// Serves until drained or cancelled.
  void run();
  /// Runs one turn of the loop, for tests.
  void run_once(Duration max_wait) { loop_->run_once(max_wait); }
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

  /// Takes over a connection that another worker accepted; returns false if this worker has ended.
  /// Thread-safe.
  bool adopt(Socket& socket);
  /// Stops listening, finishes requests in progress, and then ends run(). Closes the remaining
  /// connections at the deadline; of several calls, the earliest deadline holds. Thread-safe.
  void begin_drain(Duration deadline = Duration::max());

  void add_to(Counters& sum) const noexcept;
  [[nodiscard]] BackendChoice backend() const noexcept { return loop_->backend().kind(); }
  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }
  /// Serves a stream of any kind. Call it on the worker's thread.
  void serve(std::unique_ptr<net::Stream> stream);

 private:
  Worker(std::unique_ptr<loop::Loop> loop, const Router& router, const ServerOptions& options,
         SharedState& shared);

  /// A listener of the worker.
  class Door;

  void accepted(Socket socket);
  void accept_paused(Error error);
  void door_closed(Door& door) noexcept;
  void connection_closed(Connection& connection) noexcept override;

  void serve_adopted();
  void open(Socket socket);
  template <class Work>
  void guarded(Work&& work) noexcept;
  void reload_certificates();
  void drain(Duration deadline);
  void stop_taking();
  void close_all() noexcept;
  void update_pressure() noexcept;
  [[nodiscard]] std::uint64_t taken_bytes() const noexcept;
  void trim_memory() noexcept;
  void end_if_done();

  const ServerOptions& options_;
  SharedState& shared_;
  std::unique_ptr<loop::Loop> loop_;
  Resources resources_;
  AcceptFilter filter_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::function<bool(Socket&)> receiver_;
  std::mutex adopting_;
  std::vector<Socket> adopted_;  // not served yet; guarded by adopting_, like the next
  bool has_ended_ = false;
  base::IntrusiveList<Connection> connections_;
  bool is_at_cap_ = false;    // and accepts no connections
  loop::Timer resume_timer_;  // at the connection cap: another worker's connection may have closed
  loop::Timer reload_timer_;
  loop::Timer trim_timer_;           // restarted while connections close
  std::uint64_t trimmed_bytes_ = 0;  // taken_bytes() when memory was last trimmed
  loop::Timer drain_timer_;
  loop::Instant drained_by_ = loop::Instant::max();
  bool is_done_ = false;
};

}  // namespace skua::server
