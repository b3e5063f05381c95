// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "loop/clock.hpp"
#include "net/stream.hpp"

namespace skua::server {

class Journal;

/// What a connection waits for, which decides how long it waits.
enum class Waiting : std::uint8_t {
  Request,
  Head,
  Body,
  Peer,     ///< whatever it may send; see Session::deadline
  Handler,  ///< not for the peer
};

/// How a session stands: from this a connection decides what to do next.
struct Standing {
  Waiting waiting = Waiting::Request;
  bool can_resume = false;  ///< resume() would get somewhere
  bool has_work = false;  ///< there are requests that wait for something else than more bytes: for
                          ///< the peer to take its responses, or for a handler
  bool wants_input = true;   ///< more bytes of the peer are welcome
  bool is_finished = false;  ///< no request will be read any more: the output is the last
};

/// A protocol on one connection: bytes in, responses into an output queue. It knows no sockets and
/// sets no timers.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  /// Answers every whole request in `input` and keeps what is unfinished. The bytes may be written
  /// to meanwhile.
  virtual void receive(std::span<char> input) = 0;
  /// `is_sending`: the peer has not taken all of the output.
  [[nodiscard]] virtual Standing standing(bool is_sending) const noexcept = 0;
  /// Goes on with handlers that have got further, and with requests that were kept back.
  virtual void resume() = 0;
  /// The peer may have taken some of the output.
  virtual void output_drained() noexcept = 0;
  /// When what we wait for must be here. Only while waiting is Head, Body or Peer.
  [[nodiscard]] virtual loop::Instant deadline() const noexcept = 0;
  /// The peer let the time for what we wait for pass: says so, and ends; or asks whether it is
  /// there.
  virtual void time_out() = 0;
  /// The peer sends no more: what is unfinished stays so. To be told again after each resume().
  virtual void receive_end() = 0;
  /// Ends what has no end of its own.
  virtual void drain() = 0;
  /// The peer is gone: drops the handlers that are at work.
  virtual void cancel() noexcept = 0;
};

/// The connection, as its session sees it.
class SessionOwner {
 public:
  /// The session has something to do at the end of the turn.
  virtual void settle_later() noexcept = 0;
  /// Sends what can go at once, from where it lies, where nothing waits before it; returns how
  /// many bytes went. The rest is the session's to write.
  virtual std::size_t send_now(std::span<const net::Slice> slices) = 0;
  /// Another protocol is spoken from here on. The session that says so stays where it is.
  virtual void replace_session(std::unique_ptr<Session> next) noexcept = 0;
  /// The one that speaks now.
  [[nodiscard]] virtual Session& session() noexcept = 0;
  /// Where responses are recorded; null where nobody wants to know of them.
  virtual Journal* journal() = 0;

 protected:
  ~SessionOwner() = default;
};

}  // namespace skua::server
