// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "h2/connection.hpp"
#include "loop/clock.hpp"
#include "net/output_queue.hpp"
#include "server/protocol.hpp"
#include "skua/request.hpp"
#include "ws/server_handshake.hpp"

namespace skua::server {

class H1Protocol;
struct Resources;

/// A WebSocket on a connection that was upgraded from HTTP/1.1.
class SocketProtocol : public Protocol {
 public:
  /// Called after the response that opens the WebSocket has been written.
  virtual void start(Request& request, const detail::Upgrade& upgrade) = 0;
};

/// The owner of an HTTP/2 stream.
class StreamOwner {
 public:
  /// Schedules the stream for the end of the turn.
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

  /// Called after the response that opens the WebSocket has been submitted.
  virtual void start(Request& request, const detail::Upgrade& upgrade) = 0;
  virtual void receive(std::string_view data) = 0;
  virtual void receive_end() = 0;

  /// Reports whether advance() would make progress.
  [[nodiscard]] virtual bool can_advance() const noexcept = 0;
  virtual void advance() = 0;
  [[nodiscard]] virtual h2::BodyRead read_body(std::size_t max_bytes) noexcept = 0;
  virtual void write_data(net::OutputQueue& output, std::string_view head,
                          std::size_t size_bytes) = 0;

  virtual void drain() = 0;
  [[nodiscard]] virtual std::optional<loop::Instant> deadline() const noexcept = 0;
  virtual void time_out() = 0;
  /// Called when the stream is over.
  virtual void close() noexcept = 0;
};

/// Creates the WebSocket after an opening handshake. Protocols only reach it through the response
/// that opens a WebSocket, so that a program without WebSocket routes does not link their code.
class WebSocketServer {
 public:
  [[nodiscard]] virtual std::unique_ptr<SocketProtocol> on_connection(
      H1Protocol& owner, const detail::Upgrade& upgrade) const = 0;
  [[nodiscard]] virtual std::unique_ptr<SocketStream> on_stream(
      Resources& resources, StreamOwner& owner, h2::Connection& protocol, h2::Stream& stream,
      const detail::Upgrade& upgrade) const = 0;

 protected:
  ~WebSocketServer() = default;
};

}  // namespace skua::server
