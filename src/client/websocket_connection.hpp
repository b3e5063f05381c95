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
#include "net/output_queue.hpp"
#include "net/stream.hpp"
#include "skua/client.hpp"
#include "skua/waiter.hpp"
#include "ws/socket.hpp"
#include "ws/wire.hpp"

namespace skua::client {

/// A client's WebSocket, with the stream that it goes over.
///
/// Lifetime:  that of whoever holds hold(); then it closes, and keeps itself until its stream is
///            closed.
class WebSocketConnection final : public base::ListNode,
                                  public std::enable_shared_from_this<WebSocketConnection>,
                                  private net::StreamSink,
                                  private ws::Wire,
                                  private ws::SocketListener {
 public:
  /// The handshake is over; `stream` is idle, and nobody listens to it.
  WebSocketConnection(std::shared_ptr<Core> core, net::HeldStream stream,
                      const WebSocketOptions& options, ws::Agreement&& agreement);

  /// What an owner of the socket holds: once it is gone, so is the socket's use.
  [[nodiscard]] std::shared_ptr<void> hold();
  [[nodiscard]] ws::Socket& socket() noexcept { return socket_; }

  /// Goes on with what the server has sent already, and how that has ended, if it has.
  void start(std::string received, std::optional<Error> receive_end);
  /// Calls back until the end. Before start().
  void listen(WebSocket& socket, const ClientWebSocketCallbacks& callbacks) noexcept;
  /// Nobody is called any more.
  void forget_callbacks() noexcept { callbacks_ = nullptr; }
  /// Calls one of the callbacks: what it throws closes the socket.
  template <class F>
  void guarded(F&& call) noexcept {
    try {
      call();
    } catch (...) {
      callback_failed(std::current_exception());
    }
  }
  /// What a callback has thrown.
  [[nodiscard]] std::exception_ptr exception() const noexcept { return exception_; }

  [[nodiscard]] bool is_closed() const noexcept { return state_ == State::Closed; }
  [[nodiscard]] bool is_abandoned() const noexcept { return self_ != nullptr; }
  /// Wakes who waits whenever the socket has ended.
  [[nodiscard]] skua::detail::WaiterList& ended() noexcept { return ended_; }
  /// Says what there is to say, and does not wait for the answer.
  void break_off();

 private:
  enum class State : std::uint8_t {
    Open,
    Finishing,  ///< what is in the output is the last
    Lingering,  ///< RFC 6455 §7.1.1: the server is to close first
    Closing,
    Closed,
  };
  /// What came with the handshake.
  struct Early {
    std::string received{};
    std::optional<Error> end{};
  };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  void write(std::string_view text) override { output_.append(text); }
  void write(Body&& piece) override;
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override {
    return output_.pressure_bytes();
  }
  void settle_later() noexcept override { core_->loop.defer(settle_later_); }
  void callback_failed(const std::exception_ptr& failure) noexcept override {
    exception_ = failure;
    close_socket(CloseCode::InternalError);
  }
  [[nodiscard]] loop::Instant now() noexcept override { return core_->loop.now(); }
  [[nodiscard]] ws::Poster poster() override;

  void on_message(const Message& message) noexcept override;
  void on_drained() noexcept override;

  void abandon();
  void close();
  void close_socket(CloseCode code) noexcept;
  void take_early();
  void settle();
  void go_on();
  template <class Work>
  void guard(Work&& work) noexcept;
  void flush();
  void finish();
  void set_receiving(bool wanted);
  void start_timer();
  void time_out();

  const std::shared_ptr<Core> core_;
  const WebSocketOptions options_;
  std::unique_ptr<net::Stream> stream_;
  net::OutputQueue output_;
  ws::Socket socket_;
  loop::Timer timer_;
  loop::Deferred settle_later_;
  WebSocket* websocket_ = nullptr;  // of the callbacks
  const ClientWebSocketCallbacks* callbacks_ = nullptr;
  std::optional<Early> early_{};
  std::exception_ptr exception_{};
  skua::detail::WaiterList ended_;
  std::shared_ptr<WebSocketConnection> self_;  // since it was abandoned
  loop::Instant end_by_{};                     // then
  State state_ = State::Open;
  bool is_receiving_ = false;
  bool is_sending_ = false;      // a send is pending
  bool is_write_timed_ = false;  // the timer runs since the server last took something
  bool has_peer_ended_ = false;
  bool is_cut_off_ = false;  // nothing more can be said
};

}  // namespace skua::client
