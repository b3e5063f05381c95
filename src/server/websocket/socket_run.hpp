// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "server/resources.hpp"
#include "server/websocket/carrier.hpp"
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
class SocketRun final {
 public:
  /// `carrier` must outlive the object.
  SocketRun(Carrier& carrier, const detail::Upgrade& upgrade);
  SocketRun(const SocketRun&) = delete;
  SocketRun& operator=(const SocketRun&) = delete;
  ~SocketRun();

  /// Starts the application inline, with the upgrade passed to the constructor. Moves the request's
  /// attachments to the socket. Both arguments need to live only for the call.
  void start(Request& request, const detail::Upgrade& upgrade);
  /// May modify the input.
  void receive(std::span<char> input) { socket_.receive(input); }
  void receive_end() { socket_.receive_end(); }
  [[nodiscard]] bool wants_input() const noexcept { return socket_.wants_input(); }
  /// Called when the peer may have taken some of the output.
  void output_drained() { socket_.output_drained(); }

  /// Reports whether resume() would make progress.
  [[nodiscard]] bool can_resume() const noexcept { return socket_.can_resume() || has_news(); }
  void resume();
  /// The application has ended, too, or has run out of time.
  [[nodiscard]] bool is_over() const noexcept;
  /// Reports whether there is a deadline().
  [[nodiscard]] bool is_timed() const noexcept { return socket_.is_timed(); }
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept {
    return socket_.deadline();
  }
  /// Called when the peer, or the application, has run out of time.
  void time_out();
  /// Called when the server drains.
  void drain();
  /// Called when the connection is gone.
  void cancel() noexcept;
  /// Logs the exception, and closes the socket.
  void fail(const std::exception_ptr& failure) noexcept;

  // Called if the application has callbacks; see ws::Wire.

  void on_message(const Message& message) noexcept;
  void on_drained() noexcept;

 private:
  /// A coroutine and its arguments.
  struct Handler {
    std::shared_ptr<const void> arguments;
    Task<> task;
    bool is_concluded = false;
  };

  [[nodiscard]] bool is_running() const noexcept {
    return handler_ != nullptr && !handler_->task.is_done();
  }
  [[nodiscard]] Resources& resources() const noexcept {
    return static_cast<Carrier&>(socket_.wire()).resources();
  }
  [[nodiscard]] bool has_news() const noexcept;
  void conclude() noexcept;
  [[nodiscard]] Attachments* take_attachments(Request& request);
  template <class F>
  void guarded(F&& call) noexcept;
  void drain_later();

  const WebSocketCallbacks* callbacks_;  // null once conclude() has run
  ws::Socket socket_;
  WebSocket websocket_{socket_};
  std::unique_ptr<Handler> handler_;  // null with callbacks; destroyed before what it refers to
};
static_assert(sizeof(void*) != 8 || sizeof(SocketRun) <= 96);

}  // namespace skua::server
