// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// What the load generator for WebSockets needs of a connection: its opening, and a check of bytes.
namespace bench::load {

/// A connected, non-blocking socket whose handshake for a WebSocket at `path` has been done.
///
/// Ends with: std::runtime_error, which says what the server did wrong.
int open_websocket(std::uint16_t port, const std::string& path);

/// Sends all of it, waiting for room where there is none; false upon an error.
bool send_all(int fd, std::string_view bytes);

/// Follows a stream that has to be the same frame again and again.
class Repetition final {
 public:
  explicit Repetition(std::string_view frame) : frame_(frame) {}

  /// Takes the next bytes; returns how many frames ended in them, or -1 for other bytes.
  int take(std::string_view bytes) noexcept;

 private:
  std::string_view frame_;
  std::size_t at_ = 0;  // in the frame
};

}  // namespace bench::load
