// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/connect/origin.hpp"
#include "client/connect/proxy.hpp"
#include "client/problem.hpp"
#include "h1/response_reader.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// A tunnel to an origin, opened over a stream that is connected to a proxy.
///
/// Lifetime:  loop and proxy outlive it; it owns the stream until take_stream().
/// RFC:       9110 §9.3.6; 9112 §3.2.3
class Tunnel final : private net::StreamSink {
 public:
  enum class End : std::uint8_t {
    Open,           ///< take_stream() leads to the origin
    NewConnection,  ///< ask the proxy again over another stream, now that its challenge is known
  };

  Tunnel(loop::Loop& loop, net::HeldStream stream, const Origin& origin, ProxyAccess& proxy);
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

  /// Asks the proxy for the tunnel, and authenticates if necessary. `step` goes into the text of a
  /// problem. Call it once.
  ///
  /// Waits for: the proxy's answer, at most `limit`.
  /// Ends with: TimedOut; ProxyRefused if it refuses, or sends data before the origin was asked
  ///            anything; the errors of a malformed answer; the error that ended the connection.
  Task<Result<End, Problem>> run(std::string step, Duration limit);

  /// After End::Open: idle and without a listener.
  [[nodiscard]] net::HeldStream take_stream() noexcept { return std::move(stream_); }

 private:
  enum class Answer : std::uint8_t { None, Open, AskAgain, NewConnection, Refused };

  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override {}

  Result<void> ask();
  void send();
  void read(std::string_view input);
  void receive_end(Error error);
  void read_head();
  void end_with(Answer answer);
  void refuse(Error error, std::string why = {});
  [[nodiscard]] bool is_all_sent() const noexcept { return sent_bytes_ == request_->text.size(); }

  loop::Loop& loop_;
  net::HeldStream stream_;
  const Origin origin_;
  ProxyAccess& proxy_;
  h1::ResponseReader reader_;
  std::unique_ptr<net::SentText> request_;
  std::string authorization_;  // in the request
  std::size_t sent_bytes_ = 0;
  std::size_t content_bytes_ = 0;  // of an answer that is discarded
  unsigned requests_ = 0;
  Answer answer_ = Answer::None;
  bool is_unauthorized_ = false;  // and the rest of that answer is being read
  Error failure_ = Errc::None;    // after Refused
  std::string why_;
  std::optional<Error> send_failure_{};
  skua::detail::WaiterList changed_;
};

}  // namespace skua::client
