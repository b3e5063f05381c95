// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "net/listener.hpp"
#include "skua/tcp_server.hpp"
#include "sockets/tcp_client.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::sockets {

/// State shared by the workers of a TcpServer.
struct TcpShared {
  TcpServerOptions options;
  detail::MakeTcpSession make_session;
  std::unique_ptr<tls::ReloadableContext> tls{};  ///< null without TLS
  std::atomic<bool> is_stopping{false};
  std::atomic<std::size_t> open_clients{0};
  std::atomic<std::size_t> kept_bytes{0};
};

/// One thread of a TcpServer: its loop, its listener, its clients.
///
/// All members but wake() and adopt() are for the thread that runs the worker.
class TcpWorker final : private net::ListenerSink {
 public:
  static Result<std::unique_ptr<TcpWorker>> create(TcpShared& shared);
  ~TcpWorker();

  /// Accepts clients from this socket.
  void listen(Socket socket);
  /// Passes accepted sockets to `receiver` instead of serving them.
  void hand_over(std::function<void(Socket)> receiver) { receiver_ = std::move(receiver); }
  /// Takes over a client that another worker accepted. Thread-safe.
  void adopt(Socket socket);

  /// Runs turns until the server has stopped.
  void run();
  /// Runs one turn. Returns whether the worker still runs.
  bool run_once(Duration max_wait);
  /// Makes the worker look at TcpShared::is_stopping. Thread-safe, async-signal-safe.
  void wake() noexcept { loop_->wake(); }
  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }

 private:
  TcpWorker(TcpShared& shared, std::unique_ptr<loop::Loop> loop);

  void on_accept(Socket socket) override;
  void on_accept_paused(Error error) override;
  void on_listener_closed() override { listener_.reset(); }
  void client_closed(TcpClient& client) noexcept;

  [[nodiscard]] bool accepts(const Socket& socket) const;
  void open(Socket socket);
  void update_pressure() noexcept;
  void begin_stop();
  void close_all() noexcept;
  void log(LogLevel level, std::string_view text) const noexcept;

  TcpShared& shared_;
  std::unique_ptr<loop::Loop> loop_;
  TcpClients clients_data_;
  std::unique_ptr<net::Listener> listener_;
  std::function<void(Socket)> receiver_;
  base::IntrusiveList<TcpClient> clients_;
  bool is_at_limit_ = false;  // and accepts no clients
  loop::Timer resume_timer_;  // at the limit: another worker's client may have left
  loop::Timer stop_timer_;
  bool is_stopping_ = false;
};

}  // namespace skua::sockets
