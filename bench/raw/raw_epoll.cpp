// SPDX-License-Identifier: MIT
//
// In: connections. Out: the same response to every head that arrives.
// The idea: a minimal readiness server: level-triggered epoll, one recv into a buffer shared by all
// connections, one send for all requests in it. A connection is two integers until its peer stops
// reading.

#include "raw.hpp"

#include "answers.hpp"
#include "epoll_server.hpp"
#include "heads.hpp"

#include <memory>

namespace bench::raw {
namespace {

class ConstantAnswers final {
 public:
  struct Connection {
    std::size_t owed = 0;      // responses not sent yet
    std::uint8_t matched = 0;  // bytes of the terminator at the end of the received data
    bool waits = false;        // for room to send: EPOLLOUT instead of EPOLLIN
    std::string tail;          // the rest after a partial send
  };
  using Server = EpollServer<ConstantAnswers>;

  void turn() { answers_.refresh(); }

  void serve(Server& server, int fd, Connection& connection) {
    if (connection.waits) return flush(server, fd, connection);
    const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (received <= 0) {
      if (received == 0 || (errno != EAGAIN && errno != EINTR)) server.drop(fd);
      return;
    }
    connection.owed +=
        count_heads({buffer_.data(), static_cast<std::size_t>(received)}, connection.matched);
    if (connection.owed != 0) flush(server, fd, connection);
  }

 private:
  void flush(Server& server, int fd, Connection& connection) {
    while (!connection.tail.empty() || connection.owed != 0) {
      const bool old = !connection.tail.empty();
      const std::string_view bytes =
          old ? std::string_view(connection.tail) : answers_.take(connection.owed);
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno != EAGAIN) return server.drop(fd);
      const std::size_t done = sent < 0 ? 0 : static_cast<std::size_t>(sent);
      if (!old)
        connection.owed -= connection.owed < Answers::most ? connection.owed : Answers::most;
      if (done == bytes.size()) {
        connection.tail.clear();
        continue;
      }
      connection.tail = std::string(bytes.substr(done));
      if (!connection.waits) connection.waits = server.wait_for_room(fd, true);
      return;
    }
    if (connection.waits) connection.waits = !server.wait_for_room(fd, false);
  }

  Answers answers_;
  std::array<char, std::size_t{64} * 1024> buffer_{};
};

}  // namespace

int run_raw_epoll(const RawOptions& options) {
  return run_workers(options, [](int listener, int signals) {
    return std::make_unique<EpollServer<ConstantAnswers>>(listener, signals)->run();
  });
}

}  // namespace bench::raw
