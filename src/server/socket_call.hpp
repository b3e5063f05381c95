// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/task.hpp"
#include "skua/websocket.hpp"
#include "ws/socket.hpp"
#include "ws/upgrade.hpp"
#include "ws/wire.hpp"

namespace skua::server {

/// One WebSocket of a server, with the handler or the callbacks that are its application. It knows
/// no connection.
///
/// Destroying it cancels what runs.
class SocketCall final : private ws::SocketListener {
 public:
  /// `wire` outlives it.
  SocketCall(Resources& resources, ws::Wire& wire, const detail::Upgrade& upgrade);
  ~SocketCall();
  SocketCall(const SocketCall&) = delete;
  SocketCall& operator=(const SocketCall&) = delete;

  /// Starts the application of the same upgrade, inline; both are there during the call only. The
  /// attachments of the request become the socket's.
  void start(Request& request, const detail::Upgrade& upgrade);
  [[nodiscard]] Resources& resources() const noexcept { return resources_; }
  [[nodiscard]] ws::Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const ws::Socket& socket() const noexcept { return socket_; }

  /// Whether resume() would get somewhere.
  [[nodiscard]] bool can_resume() const noexcept { return socket_.can_resume() || has_news(); }
  void resume();
  /// Whether nothing more happens: both sides are done, and so is the application (or it has had
  /// its time).
  [[nodiscard]] bool is_over() const noexcept;
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept {
    return socket_.deadline();
  }
  /// The peer, or the application after the end, has let its time pass.
  void time_out();
  /// A server that drains: the peer is asked to go.
  void drain();
  /// The connection is gone.
  void cancel() noexcept;
  /// What the application threw: it is logged, and closes the socket.
  void fail(const std::exception_ptr& failure) noexcept;

 private:
  void on_message(const Message& message) noexcept override;
  void on_drained() noexcept override;

  /// A coroutine, and what it was called with.
  struct Handler {
    std::shared_ptr<const void> arguments;
    Task<> task;
  };

  [[nodiscard]] bool is_running() const noexcept {
    return handler_ != nullptr && !handler_->task.is_done();
  }
  [[nodiscard]] bool has_news() const noexcept;
  void conclude() noexcept;
  [[nodiscard]] Attachments* take_attachments(Request& request);
  template <class F>
  void guarded(F&& call) noexcept;

  Resources& resources_;
  const WebSocketCallbacks* callbacks_;
  ws::Socket socket_;
  WebSocket websocket_{socket_};
  std::unique_ptr<Handler> handler_;  // where there are no callbacks; goes before what it refers to
  bool is_concluded_ = false;         // the application's end was looked at
};

}  // namespace skua::server
