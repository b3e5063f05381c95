// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Connections of the load generators: opening them, and checking received bytes.
namespace bench::load {

/// Connects to 127.0.0.1; returns a non-blocking socket.
///
/// Ends with: std::runtime_error, which says what went wrong.
int open_connection(std::uint16_t port);

/// Connects and completes the handshake for a WebSocket at `path`; returns a non-blocking socket.
///
/// Ends with: std::runtime_error, which says what went wrong.
int open_websocket(std::uint16_t port, const std::string& path);

/// Sends all bytes, waiting for room if necessary; returns false on error or timeout.
bool send_all(int fd, std::string_view bytes);

/// Checks a stream that must repeat the same frame.
class Repetition final {
 public:
  explicit Repetition(std::string_view frame) : frame_(frame) {}

  /// Takes the next bytes; returns how many frames ended in them, or -1 on a mismatch.
  int take(std::string_view bytes) noexcept;

 private:
  std::string_view frame_;
  std::size_t at_ = 0;  // in the frame
};

}  // namespace bench::load
