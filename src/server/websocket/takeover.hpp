// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <span>

#include "loop/clock.hpp"
#include "server/resources.hpp"
#include "server/websocket/upgrades.hpp"
#include "skua/request.hpp"
#include "ws/server_handshake.hpp"
#include "ws/wire.hpp"

namespace skua::server {

/// The user of a connection, or of a stream of one, that was taken over from HTTP: a WebSocket with
/// its application, or a tunnel. Independent of the kind of connection.
class Takeover {
 public:
  Takeover() = default;
  Takeover(const Takeover&) = delete;
  Takeover& operator=(const Takeover&) = delete;
  virtual ~Takeover() = default;

  /// Both arguments need to live only for the call.
  virtual void start(Request& request, const detail::Upgrade& upgrade) = 0;
  /// May modify the input.
  virtual void receive(std::span<char> input) = 0;
  virtual void receive_end() = 0;
  [[nodiscard]] virtual bool wants_input() const noexcept = 0;
  /// Called when the peer may have taken some of the output.
  virtual void output_drained() = 0;

  /// Reports whether resume() would make progress.
  [[nodiscard]] virtual bool can_resume() const noexcept = 0;
  virtual void resume() = 0;
  /// Reports whether both sides are done, so that the connection may end after its output.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  [[nodiscard]] virtual std::optional<loop::Instant> deadline() const noexcept = 0;
  /// Called when the peer, or the user, has run out of time.
  virtual void time_out() = 0;
  /// Called when the server drains.
  virtual void drain() = 0;
  /// Called when the connection is gone.
  virtual void cancel() noexcept = 0;
  /// Called when a callback of the application has thrown.
  virtual void fail(const std::exception_ptr& failure) noexcept = 0;
};

/// Carries takeovers on HTTP/1.1 connections and on HTTP/2 streams.
class Takeovers : public WebSocketServer {
 public:
  [[nodiscard]] std::unique_ptr<SocketProtocol> on_connection(
      H1Protocol& owner, const detail::Upgrade& upgrade) const final;
  [[nodiscard]] std::unique_ptr<SocketStream> on_stream(Resources& resources, StreamOwner& owner,
                                                        h2::Connection& protocol,
                                                        h2::Stream& stream,
                                                        const detail::Upgrade& upgrade) const final;
  /// `wire` outlives the takeover.
  [[nodiscard]] virtual std::unique_ptr<Takeover> take_over(
      Resources& resources, ws::Wire& wire, const detail::Upgrade& upgrade) const = 0;

 protected:
  ~Takeovers() = default;
};

}  // namespace skua::server
