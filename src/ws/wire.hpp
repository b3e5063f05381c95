// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>

#include "loop/clock.hpp"
#include "skua/body.hpp"
#include "skua/waiter.hpp"
#include "skua/websocket_message.hpp"

namespace skua::ws {

/// Runs a call on a certain thread; returns false if that thread is gone. Any thread.
using Poster = std::function<bool(std::function<void()>)>;

class Codecs;

/// The surroundings of a socket: an HTTP/1.1 connection, an HTTP/2 stream, or a client's
/// connection. Takes its output and its messages. One interface, so that a socket stores one
/// reference.
class Wire {
 public:
  /// Takes bytes, even if there is no room. The text is copied.
  virtual void write(std::string_view text) = 0;
  virtual void write(Body&& piece) = 0;
  /// Writes both; implementations may send them in place instead of copying.
  virtual void write_frame(std::string_view header, std::string_view payload) {
    write(header);
    write(payload);
  }
  /// Bytes that were written but have not been sent yet.
  [[nodiscard]] virtual std::uint64_t pending_bytes() const noexcept = 0;
  /// Schedules a check of the socket's state for the end of the loop iteration.
  virtual void settle_later() noexcept = 0;
  /// An application callback has thrown: reports the exception and closes the socket with 1011.
  virtual void callback_failed(const std::exception_ptr& failure) noexcept = 0;
  /// A message has arrived. Called only after Socket::listen(), like the next.
  virtual void on_message(const Message& message) noexcept = 0;
  /// The peer has taken most of the queued data.
  virtual void on_drained() noexcept = 0;
  /// The owner of a client's WebSocket has dropped it.
  virtual void release() noexcept {}
  [[nodiscard]] virtual loop::Instant now() noexcept = 0;
  /// Returns the codecs of the thread, which must outlive the socket.
  [[nodiscard]] virtual Codecs& codecs() noexcept = 0;
  /// Returns a function that runs calls on this thread from any other, as long as it is running.
  [[nodiscard]] virtual Poster poster() = 0;
  /// The thread of the socket.
  [[nodiscard]] virtual const skua::detail::OwnThread& thread() const noexcept = 0;

 protected:
  ~Wire() = default;
};

}  // namespace skua::ws
