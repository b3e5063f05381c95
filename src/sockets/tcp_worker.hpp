// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "base/intrusive_list.hpp"
#include "loop/loop.hpp"
#include "skua/tcp_server.hpp"
#include "sockets/acceptor.hpp"
#include "sockets/tcp_client.hpp"
#include "tls/certificate_watch.hpp"
#include "tls/reloadable_context.hpp"

namespace skua::sockets {

/// State shared by the workers of a TcpServer.
struct TcpShared {
  TcpServerOptions options;
  detail::MakeTcpSession make_session;
  std::unique_ptr<tls::ReloadableContext> tls{};  ///< null without TLS
  std::atomic<bool> is_stopping{false};
  ConnectionCount clients{.cap = options.clients};
  std::atomic<std::size_t> kept_bytes{0};
};

/// One thread of a TcpServer: its loop, its listener, its clients.
///
/// All members but wake() are for the thread that runs the worker.
class TcpWorker final : private AcceptorOwner {
 public:
  static Result<std::unique_ptr<TcpWorker>> create(TcpShared& shared);
  ~TcpWorker();

  /// Where its clients come from.
  [[nodiscard]] Acceptor& acceptor() noexcept { return acceptor_; }
  /// Checks for changed certificates every TlsOptions::reload_interval, on behalf of all workers.
  void watch_certificates();

  /// Runs turns until the server has stopped.
  void run();
  /// Runs one turn. Returns whether the worker still runs.
  bool run_once(Duration max_wait);
  /// Makes the worker look at TcpShared::is_stopping. Thread-safe, async-signal-safe.
  void wake() noexcept { loop_->wake(); }
  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }

 private:
  TcpWorker(TcpShared& shared, std::unique_ptr<loop::Loop> loop);

  Socket admit(Socket connection) override;
  void serve(std::unique_ptr<net::Stream> stream) override;
  void on_accept_paused(Error why) noexcept override;
  void on_accept_failed() noexcept override;
  void on_accept_progress() noexcept override {}
  void client_closed(TcpClient& client) noexcept;

  [[nodiscard]] bool accepts(const Socket& connection) const;
  void begin_stop();
  void close_all() noexcept;

  TcpShared& shared_;
  std::unique_ptr<loop::Loop> loop_;
  TcpClients clients_data_;
  Acceptor acceptor_;
  base::IntrusiveList<TcpClient> clients_;
  std::optional<tls::CertificateWatch> certificate_watch_;
  loop::Timer stop_timer_;
  bool is_stopping_ = false;
  bool is_closed_ = false;  // TcpServerOptions::shutdown has passed
};

}  // namespace skua::sockets
