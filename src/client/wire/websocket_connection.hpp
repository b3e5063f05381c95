// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "base/intrusive_list.hpp"
#include "client/core.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream_pump.hpp"
#include "skua/client.hpp"
#include "skua/waiter.hpp"
#include "ws/socket.hpp"
#include "ws/wire.hpp"

namespace skua::client {

/// A client's WebSocket and its stream.
///
/// Lifetime:  after hold(), it keeps itself alive until the WebSocket is dropped, then closes, and
///            does so until its stream is closed.
class WebSocketConnection final : public base::ListNode,
                                  public std::enable_shared_from_this<WebSocketConnection>,
                                  private net::StreamPumpUser,
                                  private ws::Wire {
 public:
  /// The handshake is over; `stream` is idle and has no listener.
  WebSocketConnection(std::shared_ptr<Core> core, net::HeldStream stream,
                      const WebSocketOptions& options, ws::Agreement&& agreement);

  /// Returns the WebSocket for its owner. When it is dropped, the socket closes. Call it once.
  [[nodiscard]] WebSocket hold() noexcept;
  [[nodiscard]] ws::Socket& socket() noexcept { return socket_; }

  /// Starts with what the server has sent already, and with how its input ended, if it has.
  void start(std::string received, std::optional<Error> receive_end);
  /// Calls back until the end. Call it before start().
  void listen(WebSocket& socket, const ClientWebSocketCallbacks& callbacks) noexcept;
  /// Stops calling back.
  void forget_callbacks() noexcept { callbacks_ = nullptr; }
  /// Runs one of the callbacks; an exception closes the socket.
  template <class F>
  void guarded(F&& call) noexcept {
    try {
      call();
    } catch (...) {
      callback_failed(std::current_exception());
    }
  }
  /// The exception that a callback has thrown, or null.
  [[nodiscard]] std::exception_ptr exception() const noexcept { return exception_; }

  [[nodiscard]] bool is_closed() const noexcept {
    return pump_.state() == net::StreamPump::State::Closed;
  }
  [[nodiscard]] bool is_abandoned() const noexcept { return self_ != nullptr; }
  /// Woken when the WebSocket has ended.
  [[nodiscard]] skua::detail::WaiterList& ended() noexcept { return ended_; }
  /// Sends pending output and closes, without waiting for an answer.
  void break_off();

 private:
  /// Input that came with the handshake.
  struct Early {
    std::string received{};
    std::optional<Error> end{};
  };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_send_failed(Error) override { pump_.close(); }
  void on_sent(std::uint64_t) override {}
  void on_time_out() override;
  void settle() override;
  void on_out_of_memory() noexcept override { pump_.close(); }
  void on_closing() noexcept override;
  void on_closed() override;

  void write(std::string_view text) override { pump_.output().append(text); }
  void write(Body&& piece) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return pump_.output().pressure_bytes();
  }
  void settle_later() noexcept override { pump_.settle_later(); }
  void callback_failed(const std::exception_ptr& failure) noexcept override {
    exception_ = failure;
    close_socket(CloseCode::InternalError);
  }
  [[nodiscard]] loop::Instant now() noexcept override { return core_->loop.now(); }
  [[nodiscard]] const skua::detail::OwnThread& thread() const noexcept override {
    return core_->loop.thread();
  }
  [[nodiscard]] ws::Poster poster() override;

  [[nodiscard]] ws::Codecs& codecs() noexcept override { return core_->codecs; }
  void on_message(const Message& message) noexcept override;
  void on_drained() noexcept override;
  void release() noexcept override;

  void abandon();
  void close_socket(CloseCode code) noexcept;
  void take_early();
  void start_timer();

  const std::shared_ptr<Core> core_;
  const WebSocketOptions options_;
  net::StreamPump pump_;
  ws::Socket socket_;
  WebSocket* websocket_ = nullptr;  // passed to the callbacks
  const ClientWebSocketCallbacks* callbacks_ = nullptr;
  std::optional<Early> early_{};
  std::exception_ptr exception_{};
  skua::detail::WaiterList ended_;
  std::shared_ptr<WebSocketConnection> held_;  // set while its WebSocket exists
  std::shared_ptr<WebSocketConnection> self_;  // set once it is abandoned
  loop::Instant end_by_{};                     // its deadline after that
  bool is_cut_off_ = false;                    // nothing more can be sent
};

}  // namespace skua::client
