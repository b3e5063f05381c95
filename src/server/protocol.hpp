// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "loop/clock.hpp"
#include "net/stream.hpp"
#include "skua/connection.hpp"

namespace skua::server {

class Accounting;

/// The event that a connection waits for, which decides how long it waits.
enum class Waiting : std::uint8_t {
  Request,
  Head,
  Body,
  Peer,     ///< any input; see Protocol::deadline
  Handler,  ///< nothing from the peer
};

/// The state of a protocol, from which a connection decides what to do next.
struct ProtocolState {
  Waiting waiting = Waiting::Request;
  bool can_resume = false;    ///< resume() would make progress
  bool has_work = false;      ///< requests wait for a handler, or for the peer to take responses
  bool wants_input = true;    ///< the protocol takes more bytes
  bool is_finished = false;   ///< no more requests will be read, and all output is written
  bool is_peer_done = false;  ///< the peer sends nothing after what was received
};

/// A protocol on one connection: takes bytes, and writes responses into an output queue. It uses no
/// sockets and no timers of its connection.
class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  /// Answers every complete request in `input` and keeps an incomplete one. May modify the input.
  virtual void receive(std::span<char> input) = 0;
  /// Returns the current state. `is_sending`: the peer has not taken all of the output.
  [[nodiscard]] virtual ProtocolState state(bool is_sending) const noexcept = 0;
  /// Continues with handlers that have made progress, and with requests that were held back.
  virtual void resume() = 0;
  /// Called when the peer may have taken some of the output.
  virtual void output_drained() noexcept = 0;
  /// Returns when the awaited input is due. Valid only while waiting is Head, Body or Peer.
  [[nodiscard]] virtual loop::Instant deadline() const noexcept = 0;
  /// Called when the peer has missed the deadline: reports that and ends, or pings the peer.
  virtual void time_out() = 0;
  /// Called when the peer sends no more, and again after each resume(). Incomplete input stays so.
  virtual void receive_end() = 0;
  /// Ends endless streams and WebSockets.
  virtual void drain() = 0;
  /// Called when the peer is gone: cancels running handlers.
  virtual void cancel() noexcept = 0;
};

/// A connection, as seen by its protocol.
class ProtocolOwner : public detail::ConnectionSource {
 public:
  /// Schedules the protocol for the end of the turn.
  virtual void settle_later() noexcept = 0;
  /// Sends as much as possible at once without copying; see net::StreamPump::send_now(). Returns
  /// how many bytes of `slices` were sent; the protocol has to write the rest.
  virtual std::size_t send_now(std::span<const net::Slice> slices) = 0;
  /// Returns the accounting of responses, or null if they are not recorded.
  virtual Accounting* accounting() = 0;

 protected:
  ~ProtocolOwner() = default;
};

}  // namespace skua::server
