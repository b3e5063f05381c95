// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/origin.hpp"
#include "client/problem.hpp"
#include "client/proxy_access.hpp"
#include "h1/response_reader.hpp"
#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/stream.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"

namespace skua::client {

/// A tunnel to an origin, opened over a stream that is connected to a proxy.
///
/// Lifetime:  loop and proxy outlive it; with it goes the stream, unless take_stream() has been
///            called.
/// RFC:       9110 §9.3.6; 9112 §3.2.3
class Tunnel final : private net::StreamSink {
 public:
  enum class End : std::uint8_t {
    Open,           ///< take_stream() goes to the origin
    NewConnection,  ///< the proxy has to be asked again, over another stream: it knows who asks now
  };

  Tunnel(loop::Loop& loop, net::HeldStream stream, const Origin& origin, ProxyAccess& proxy);
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;
  ~Tunnel();

  /// Asks the proxy, and tells it who asks where it wants to know. `step` is said in the text of a
  /// problem. Once.
  ///
  /// Waits for: the proxy's answer, at most `limit`.
  /// Ends with: TimedOut; ProxyRefused where it has another answer, and where it speaks before the
  ///            origin was asked anything; what is wrong with its answer; what ended the
  ///            connection.
  Task<Result<End, Problem>> run(std::string step, Duration limit);

  /// After End::Open: idle, without anyone who listens.
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
  [[nodiscard]] bool is_all_sent() const noexcept { return sent_bytes_ == request_->size(); }

  loop::Loop& loop_;
  net::HeldStream stream_;
  const Origin origin_;
  ProxyAccess& proxy_;
  h1::ResponseReader reader_;
  std::shared_ptr<const std::string> request_;  // a send may outlive all else
  std::string authorization_;                   // in the request
  std::size_t sent_bytes_ = 0;
  std::size_t content_bytes_ = 0;  // of an answer that is of no interest
  unsigned requests_ = 0;
  Answer answer_ = Answer::None;
  bool is_unauthorized_ = false;  // and the rest of that answer is read
  Error failure_ = Errc::None;    // after Refused
  std::string why_;
  std::optional<Error> send_failure_{};
  skua::detail::WaiterList changed_;
};

}  // namespace skua::client
