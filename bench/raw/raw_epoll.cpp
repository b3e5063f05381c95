// SPDX-License-Identifier: MIT
//
// In: connections. Out: the same response to every head that arrives.
// The idea: the least that a readiness server can do: level-triggered epoll, one recv into one
// buffer that all connections share, one send for all requests in it. A connection is two integers
// until its peer stops reading.

#include "raw.hpp"

#include "answers.hpp"
#include "heads.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bench::raw {
namespace {

struct Connection {
  std::size_t owed = 0;      // responses not sent yet
  std::uint8_t matched = 0;  // bytes of the terminator at the end of what was received
  bool waits = false;        // for room to send: EPOLLOUT instead of EPOLLIN
  std::string tail;          // the end of what a send took in part
};

class EpollServer final {
 public:
  EpollServer(int listener, int signals) : listener_(listener), signals_(signals) {}
  EpollServer(const EpollServer&) = delete;
  EpollServer& operator=(const EpollServer&) = delete;

  ~EpollServer() {
    for (std::size_t fd = 0; fd < connections_.size(); ++fd) {
      if (open_[fd]) close(static_cast<int>(fd));
    }
    if (epoll_ >= 0) close(epoll_);
  }

  bool run() {
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0 || !watch(EPOLL_CTL_ADD, listener_, EPOLLIN) ||
        !watch(EPOLL_CTL_ADD, signals_, EPOLLIN)) {
      return false;
    }
    std::array<epoll_event, 512> events;
    for (;;) {
      const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      if (ready < 0 && errno != EINTR) return false;
      answers_.refresh();
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == signals_) return true;
        if (fd == listener_) {
          accept_all();
        } else {
          serve(fd);
        }
      }
    }
  }

 private:
  bool watch(int operation, int fd, std::uint32_t what) const {
    epoll_event event{};
    event.events = what;
    event.data.fd = fd;
    return epoll_ctl(epoll_, operation, fd, &event) == 0;
  }

  void accept_all() {
    for (;;) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const auto index = static_cast<std::size_t>(fd);
      if (index >= connections_.size()) {
        connections_.resize(index + 1);
        open_.resize(index + 1);
      }
      connections_[index] = {};
      open_[index] = true;
      if (!watch(EPOLL_CTL_ADD, fd, EPOLLIN)) drop(fd);
    }
  }

  void drop(int fd) {
    open_[static_cast<std::size_t>(fd)] = false;
    close(fd);
  }

  void serve(int fd) {
    Connection& connection = connections_[static_cast<std::size_t>(fd)];
    if (connection.waits) return flush(fd, connection);
    const ssize_t received = recv(fd, buffer_.data(), buffer_.size(), 0);
    if (received <= 0) {
      if (received == 0 || (errno != EAGAIN && errno != EINTR)) drop(fd);
      return;
    }
    connection.owed +=
        count_heads({buffer_.data(), static_cast<std::size_t>(received)}, connection.matched);
    if (connection.owed != 0) flush(fd, connection);
  }

  void flush(int fd, Connection& connection) {
    while (!connection.tail.empty() || connection.owed != 0) {
      const bool old = !connection.tail.empty();
      const std::string_view bytes =
          old ? std::string_view(connection.tail) : answers_.take(connection.owed);
      const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno != EAGAIN) return drop(fd);
      const std::size_t done = sent < 0 ? 0 : static_cast<std::size_t>(sent);
      if (!old)
        connection.owed -= connection.owed < Answers::most ? connection.owed : Answers::most;
      if (done == bytes.size()) {
        connection.tail.clear();
        continue;
      }
      connection.tail = std::string(bytes.substr(done));
      if (!connection.waits) connection.waits = watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
      return;
    }
    if (connection.waits) connection.waits = !watch(EPOLL_CTL_MOD, fd, EPOLLIN);
  }

  int listener_;
  int signals_;
  int epoll_ = -1;
  Answers answers_;
  std::vector<Connection> connections_;  // by descriptor
  std::vector<bool> open_;
  std::array<char, std::size_t{64} * 1024> buffer_{};
};

}  // namespace

int run_raw_epoll(const RawOptions& options) {
  return run_workers(options, [](int listener, int signals) {
    return std::make_unique<EpollServer>(listener, signals)->run();
  });
}

}  // namespace bench::raw
