// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "h2/connection.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "server/session.hpp"
#include "skua/request.hpp"
#include "ws/upgrade.hpp"

namespace skua::server {

struct Resources;

/// A WebSocket on a connection that spoke HTTP/1.1 before.
class SocketSession : public Session {
 public:
  /// The response that opens it has been written.
  virtual void start(Request& request, const detail::Upgrade& upgrade) = 0;
};

/// What a stream of an HTTP/2 connection belongs to.
class StreamOwner {
 public:
  /// There may be something to do at the end of the turn.
  virtual void wake() noexcept = 0;

 protected:
  ~StreamOwner() = default;
};

/// A WebSocket on a stream of an HTTP/2 connection.
class SocketStream {
 public:
  SocketStream() = default;
  SocketStream(const SocketStream&) = delete;
  SocketStream& operator=(const SocketStream&) = delete;
  virtual ~SocketStream() = default;

  /// The response that opens it has been told.
  virtual void start(Request& request, const detail::Upgrade& upgrade) = 0;
  virtual void receive(std::string_view data) = 0;
  virtual void receive_end() = 0;

  /// Whether advance() would get somewhere.
  [[nodiscard]] virtual bool can_advance() const noexcept = 0;
  virtual void advance() = 0;
  [[nodiscard]] virtual h2::BodyRead read_body(std::size_t most_bytes) noexcept = 0;
  virtual void write_body(net::OutputQueue& output, std::size_t size_bytes) = 0;

  virtual void drain() = 0;
  [[nodiscard]] virtual std::optional<loop::Instant> deadline() const noexcept = 0;
  virtual void time_out() = 0;
  /// The stream is over.
  virtual void close() noexcept = 0;
};

/// Makes what follows an opening handshake. A session gets it with the response that opens a
/// WebSocket, and knows no other way: a program that has no route for WebSockets does not contain
/// them.
class WebSocketServer {
 public:
  [[nodiscard]] virtual std::unique_ptr<SocketSession> on_connection(
      Resources& resources, net::OutputQueue& output, SessionOwner& owner,
      const detail::Upgrade& upgrade) const = 0;
  [[nodiscard]] virtual std::unique_ptr<SocketStream> on_stream(
      Resources& resources, StreamOwner& owner, h2::Connection& session, h2::Stream& stream,
      const detail::Upgrade& upgrade) const = 0;

 protected:
  ~WebSocketServer() = default;
};

}  // namespace skua::server
