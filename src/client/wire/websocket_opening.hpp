// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"
#include "ws/client_handshake.hpp"

namespace skua::client {

/// A WebSocket's opening handshake over a connected stream.
///
/// Lifetime:  the loop outlives it; it owns the stream until take_stream().
class WebSocketOpening final : private net::StreamSink {
 public:
  WebSocketOpening(loop::Loop& loop, net::HeldStream stream, ws::ClientHandshake& handshake);
  WebSocketOpening(const WebSocketOpening&) = delete;
  WebSocketOpening& operator=(const WebSocketOpening&) = delete;
  ~WebSocketOpening();

  /// Sends the request and waits for the answer. `step` goes into the text of a problem. Call it
  /// once.
  ///
  /// Ends with: TimedOut after `limit`; the problems of ws::ClientHandshake; the error that ended
  ///            the connection.
  Task<Result<void, Problem>> run(std::string step, Duration limit);

  // After run() has succeeded:

  /// Idle and without a listener.
  [[nodiscard]] net::HeldStream take_stream() noexcept { return std::move(stream_); }
  /// Data that the server sent after its answer.
  [[nodiscard]] std::string& received() noexcept { return received_; }
  /// How the server's data has ended, if it has: the next listener is not told.
  [[nodiscard]] std::optional<Error> receive_end() const noexcept { return receive_end_; }

 private:
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override {}
  void send();
  void look() noexcept;

  loop::Loop& loop_;
  net::HeldStream stream_;
  ws::ClientHandshake& handshake_;
  std::string received_;
  std::unique_ptr<net::SentText> request_;
  std::size_t sent_bytes_ = 0;
  std::optional<Error> receive_end_{};
  std::optional<Error> send_failure_{};
  ws::ClientHandshake::Step step_ = ws::ClientHandshake::Step::NeedMore;
  bool is_over_ = false;
  skua::detail::WaiterList changed_;
};

}  // namespace skua::client
