// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "client/connect/socks5.hpp"
#include "client/problem.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// A tunnel through a SOCKS proxy, opened over a stream that is connected to it.
///
/// Lifetime:  the loop outlives it; it owns the stream until take_stream().
class SocksTunnel final : private net::StreamSink {
 public:
  SocksTunnel(loop::Loop& loop, net::HeldStream stream, Socks5 dialogue);
  SocksTunnel(const SocksTunnel&) = delete;
  SocksTunnel& operator=(const SocksTunnel&) = delete;
  ~SocksTunnel();

  /// Asks the proxy for the tunnel. `step` goes into the text of a problem. Call it once.
  ///
  /// Waits for: the proxy's answers, at most `limit` for all of them.
  /// Ends with: TimedOut; ProxyRefused, also for answers that make no sense; Closed; the error that
  ///            ended the connection.
  Task<Result<void, Problem>> run(std::string step, Duration limit);

  /// After a refusal: whether the proxy might reach another address of the same host.
  [[nodiscard]] bool may_try_another_address() const noexcept {
    return dialogue_.may_try_another_address();
  }
  /// After success: idle and without a listener.
  [[nodiscard]] net::HeldStream take_stream() noexcept { return std::move(stream_); }

 private:
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override {}

  void read(std::string_view input);
  void send();
  void end_with(Error error, std::string why = {});
  [[nodiscard]] bool is_all_sent() const noexcept { return sent_bytes_ == output_->text.size(); }

  loop::Loop& loop_;
  net::HeldStream stream_;
  Socks5 dialogue_;
  std::unique_ptr<net::SentText> output_;  // everything so far
  std::size_t sent_bytes_ = 0;
  bool is_sending_ = false;
  bool is_over_ = false;
  Error failure_ = Errc::None;
  std::string why_;
  std::optional<Error> send_failure_{};
  skua::detail::WaiterList changed_;
};

}  // namespace skua::client
