// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "server/resources.hpp"
#include "server/websocket/takeover.hpp"
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
class SocketRun final : public Takeover, private ws::SocketListener {
 public:
  /// `wire` must outlive the object.
  SocketRun(Resources& resources, ws::Wire& wire, const detail::Upgrade& upgrade);
  ~SocketRun() override;

  /// Starts the application inline, with the upgrade passed to the constructor. Moves the request's
  /// attachments to the socket.
  void start(Request& request, const detail::Upgrade& upgrade) override;
  void receive(std::span<char> input) override { socket_.receive(input); }
  void receive_end() override { socket_.receive_end(); }
  [[nodiscard]] bool wants_input() const noexcept override { return socket_.wants_input(); }
  void output_drained() override { socket_.output_drained(); }

  [[nodiscard]] bool can_resume() const noexcept override {
    return socket_.can_resume() || has_news();
  }
  void resume() override;
  /// The application has ended, too, or has run out of time.
  [[nodiscard]] bool is_over() const noexcept override;
  [[nodiscard]] std::optional<loop::Instant> deadline() const noexcept override {
    return socket_.deadline();
  }
  void time_out() override;
  void drain() override;
  void cancel() noexcept override;
  /// Logs the exception, and closes the socket.
  void fail(const std::exception_ptr& failure) noexcept override;

 private:
  void on_message(const Message& message) noexcept override;
  void on_drained() noexcept override;

  /// A coroutine and its arguments.
  struct Handler {
    std::shared_ptr<const void> arguments;
    Task<> task;
    bool is_concluded = false;
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
  const WebSocketCallbacks* callbacks_;  // null once conclude() has run
  ws::Socket socket_;
  WebSocket websocket_{socket_};
  std::unique_ptr<Handler> handler_;  // null with callbacks; destroyed before what it refers to
};
static_assert(sizeof(void*) != 8 || sizeof(SocketRun) <= 152);  // 160 with the allocator's head

}  // namespace skua::server
