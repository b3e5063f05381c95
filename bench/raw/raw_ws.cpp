// SPDX-License-Identifier: MIT
//
// In: connections that ask for a WebSocket, then masked frames. Out: one constant 101, then the
// same frames unmasked.
// The idea: the ceiling of an echo. Frames are unmasked in the buffer that all connections share,
// and all frames of one recv leave in one send; only a frame that arrives in pieces gets its own
// memory, and is received into it. Every opcode is echoed.

#include "raw.hpp"

#include "epoll_server.hpp"
#include "frames.hpp"
#include "heads.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

namespace bench::raw {
namespace {

class FrameEcho final {
 public:
  struct Connection : Unsent {
    bool upgraded = false;
    std::uint8_t matched = 0;  // bytes of the terminator at the end of the received data
    std::vector<char> frame;   // memory for a partial frame; reused for the next
    std::size_t expected = 0;  // bytes of the partial frame; 0 without one
    std::size_t filled = 0;    // received bytes of it
  };
  using Server = EpollServer<FrameEcho>;

  void turn() {}

  void serve(Server& server, int fd, Connection& connection) {
    if (connection.waits) return server.flush(fd, connection);
    std::span<char> room(buffer_);
    if (connection.expected != 0) {
      room = std::span(connection.frame).first(connection.expected).subspan(connection.filled);
    }
    const ssize_t received = recv(fd, room.data(), room.size(), 0);
    if (received <= 0) {
      if (received == 0 || (errno != EAGAIN && errno != EINTR)) server.drop(fd);
      return;
    }
    const std::span<char> bytes = room.first(static_cast<std::size_t>(received));
    if (!connection.upgraded) return upgrade(server, fd, connection, {bytes.data(), bytes.size()});
    std::string_view answer;
    const bool good = connection.expected == 0 ? take(connection, bytes, answer)
                                               : grow(connection, bytes.size(), answer);
    if (!good) return server.drop(fd);
    if (!answer.empty()) server.reply(fd, connection, answer);
  }

 private:
  static void upgrade(Server& server, int fd, Connection& connection, std::string_view bytes) {
    if (count_heads(bytes, connection.matched) == 0) return;
    connection.upgraded = true;
    const std::string answer = std::string(
                                   "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                                   "Connection: Upgrade\r\nSec-WebSocket-Accept: ")
                                   .append(handshake_accept)
                                   .append("\r\n\r\n");
    server.reply(fd, connection, answer);
  }

  // Unmasks the frames in the shared buffer and joins them there; returns false if the peer does
  // not send valid frames.
  static bool take(Connection& connection, std::span<char> bytes, std::string_view& answer) {
    while (!bytes.empty()) {
      const std::size_t needed = needed_bytes({bytes.data(), bytes.size()});
      if (needed == 0) return false;
      if (needed > bytes.size()) {
        expect(connection, needed);
        std::ranges::copy(bytes, connection.frame.begin());
        connection.filled = bytes.size();
        return true;
      }
      const std::string_view next = answer_in_place(bytes.data(), needed);
      if (answer.empty()) {
        answer = next;
      } else {
        std::memmove(const_cast<char*>(answer.data()) + answer.size(), next.data(), next.size());
        answer = {answer.data(), answer.size() + next.size()};
      }
      bytes = bytes.subspan(needed);
    }
    return true;
  }

  // Adds received bytes to the partial frame.
  static bool grow(Connection& connection, std::size_t received, std::string_view& answer) {
    connection.filled += received;
    if (connection.filled != connection.expected) return true;
    const std::size_t needed = needed_bytes({connection.frame.data(), connection.filled});
    if (needed > connection.filled) {  // the head is complete only now
      expect(connection, needed);
      return true;
    }
    if (needed == 0) return false;
    answer = answer_in_place(connection.frame.data(), connection.filled);
    connection.expected = connection.filled = 0;
    return true;
  }

  static void expect(Connection& connection, std::size_t bytes) {
    connection.expected = bytes;
    if (connection.frame.size() < bytes) connection.frame.resize(bytes);
  }

  std::array<char, std::size_t{128} * 1024> buffer_{};
};

}  // namespace

int run_raw_ws(const RawOptions& options) {
  return run_workers(options, [](int listener, int signals) {
    return std::make_unique<EpollServer<FrameEcho>>(listener, signals)->run();
  });
}

}  // namespace bench::raw
