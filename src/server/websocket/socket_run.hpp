// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>

#include "server/resources.hpp"
#include "skua/request.hpp"
#include "skua/task.hpp"
#include "skua/websocket.hpp"
#include "ws/server_handshake.hpp"
#include "ws/socket.hpp"
#include "ws/wire.hpp"

namespace skua::server {

/// A WebSocket of a server with its application, i.e. a handler or callbacks. Independent of the
/// kind of connection.
///
/// Destroying it cancels the handler.
class SocketRun final : private ws::SocketListener {
 public:
  /// `wire` must outlive the object.
  SocketRun(Resources& resources, ws::Wire& wire, const detail::Upgrade& upgrade);
  ~SocketRun();
  SocketRun(const SocketRun&) = delete;
  SocketRun& operator=(const SocketRun&) = delete;

  /// Starts the application inline, with the upgrade passed to the constructor. Moves the request's
  /// attachments to the socket. Both arguments need to live only for the call.
  void start(Request& request, const detail::Upgrade& upgrade);
  [[nodiscard]] Resources& resources() const noexcept { return resources_; }
  [[nodiscard]] ws::Socket& socket() noexcept { return socket_; }
  [[nodiscard]] const ws::Socket& socket() const noexcept { return socket_; }

  /// Reports whether resume() would make progress.
  [[nodiscard]] bool can_resume() const noexcept { return socket_.can_resume() || has_news(); }
  void resume();
  /// Reports whether the socket is over: both sides are done, and the application has ended or has
  /// run out of time.
  [[nodiscard]] bool is_over() const noexcept;
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept {
    return socket_.deadline();
  }
  /// Called when the peer, or the application after the close, has run out of time.
  void time_out();
  /// Closes the socket because the server drains.
  void drain();
  /// Called when the connection is gone.
  void cancel() noexcept;
  /// Logs an exception of the application, and closes the socket.
  void fail(const std::exception_ptr& failure) noexcept;

 private:
  void on_message(const Message& message) noexcept override;
  void on_drained() noexcept override;

  /// A coroutine and its arguments.
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
  std::unique_ptr<Handler> handler_;  // null with callbacks; destroyed before what it refers to
  bool is_concluded_ = false;         // conclude() has run
};

}  // namespace skua::server
