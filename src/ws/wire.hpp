// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>

#include "loop/clock.hpp"
#include "skua/body.hpp"

namespace skua::ws {

/// Runs a call on a certain thread; false when that is gone. Any thread.
using Poster = std::function<bool(std::function<void()>)>;

/// Where a socket's frames go: a connection of HTTP/1.1, a stream of HTTP/2, a client's connection.
class Wire {
 public:
  /// Takes bytes, also where there is no room; the text is copied.
  virtual void write(std::string_view text) = 0;
  virtual void write(Body&& piece) = 0;
  /// Writes both; a wire may send them from where they are instead of copying.
  virtual void write_frame(std::string_view header, std::string_view payload) {
    write(header);
    write(payload);
  }
  /// What was written and has not left yet.
  [[nodiscard]] virtual std::uint64_t pending_bytes() const noexcept = 0;
  /// The socket has something new to say: it is to be looked at, at the end of the turn.
  virtual void settle_later() noexcept = 0;
  /// A function of the application has thrown this: it is told, and the socket closed with 1011.
  virtual void callback_failed(const std::exception_ptr& failure) noexcept = 0;
  [[nodiscard]] virtual loop::Instant now() noexcept = 0;
  /// Makes what runs a call on this thread, from any other, as long as that goes on.
  [[nodiscard]] virtual Poster poster() = 0;

 protected:
  ~Wire() = default;
};

}  // namespace skua::ws
