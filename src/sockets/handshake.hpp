// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "loop/loop.hpp"
#include "net/close_detached.hpp"
#include "net/problem.hpp"
#include "skua/task.hpp"
#include "skua/waiter.hpp"
#include "tls/tls_stream.hpp"

namespace skua::sockets {

/// A TLS handshake over a connected stream, on either side.
///
/// Lifetime:  the loop outlives it; it owns the stream until run() returns it.
class Handshake final : private net::StreamSink {
 public:
  /// The client's side.
  Handshake(loop::Loop& loop, net::HeldStream stream, std::unique_ptr<tls::Engine> engine);
  /// The server's side.
  Handshake(loop::Loop& loop, net::HeldStream stream,
            std::shared_ptr<const tls::ServerContext> context);
  Handshake(const Handshake&) = delete;
  Handshake& operator=(const Handshake&) = delete;
  ~Handshake();

  /// Returns the secure stream, idle and without a listener. `step` goes into the text of a
  /// problem. Call it once.
  ///
  /// Ends with: TimedOut after `limit`; TlsCertificate; TlsHandshakeFailed; the error that ended
  ///            the connection.
  Task<Result<net::HeldStream, Problem>> run(std::string step, net::TimeLimit limit);

 private:
  void on_established() override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;
  [[nodiscard]] Problem failure_of(const std::string& step) const;

  loop::Loop& loop_;
  std::unique_ptr<tls::TlsStream> stream_;
  Error failure_ = Errc::None;
  bool is_established_ = false;
  bool has_failed_ = false;
  skua::detail::WaiterList changed_;
};

}  // namespace skua::sockets
