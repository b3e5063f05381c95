// SPDX-License-Identifier: MIT
//
// In: connections. Out: the bytes that arrive.
// The idea: the ceiling of a TCP echo: one recv into a buffer shared by all connections, one send
// out of it. A peer that stops reading is not read from.

#include "raw.hpp"

#include "epoll_server.hpp"

#include <memory>

namespace bench::raw {
namespace {

class Echo final {
 public:
  using Connection = Unsent;
  using Server = EpollServer<Echo>;

  void turn() {}

  void serve(Server& server, int fd, Connection& connection) {
    if (connection.waits) return server.flush(fd, connection);
    const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (received > 0) {
      server.reply(fd, connection, {buffer_.data(), static_cast<std::size_t>(received)});
    } else if (received == 0 || (errno != EAGAIN && errno != EINTR)) {
      server.drop(fd);
    }
  }

 private:
  std::array<char, std::size_t{128} * 1024> buffer_{};
};

}  // namespace

int run_raw_echo(const RawOptions& options) {
  return run_workers(options, [](int listener, int signals) {
    return std::make_unique<EpollServer<Echo>>(listener, signals)->run();
  });
}

}  // namespace bench::raw
