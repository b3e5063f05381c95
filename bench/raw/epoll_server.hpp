// SPDX-License-Identifier: MIT
#pragma once

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench::raw {

/// The rest of an answer after a partial send, for services whose `Connection` derives from it.
struct Unsent {
  std::string tail;
  bool waits = false;  // for room to send
};

/// A minimal readiness server: level-triggered epoll, connections indexed by descriptor.
///
/// `Service` defines `Connection` (default constructed on accept), `turn()` (called once per turn
/// of the loop) and `serve(server, fd, connection)` (called if a connection is readable or, after
/// `wait_for_room`, writable).
template <typename Service>
class EpollServer final {
 public:
  using Connection = typename Service::Connection;

  EpollServer(int listener, int signals) : listener_(listener), signals_(signals) {}
  EpollServer(const EpollServer&) = delete;
  EpollServer& operator=(const EpollServer&) = delete;

  ~EpollServer() {
    for (std::size_t fd = 0; fd < connections_.size(); ++fd) {
      if (open_[fd]) close(static_cast<int>(fd));
    }
    if (epoll_ >= 0) close(epoll_);
  }

  /// Serves until `signals` becomes readable; returns false if it could not run.
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
      service_.turn();
      for (int i = 0; i < ready; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == signals_) return true;
        if (fd == listener_) {
          accept_all();
        } else {
          service_.serve(*this, fd, connections_[static_cast<std::size_t>(fd)]);
        }
      }
    }
  }

  /// Waits for room to send (`wanted`) or for data to read; returns whether epoll accepted it.
  bool wait_for_room(int fd, bool wanted) const {
    return watch(EPOLL_CTL_MOD, fd, wanted ? EPOLLOUT : EPOLLIN);
  }

  /// Sends an answer; what does not fit is kept, and the connection waits for room.
  void reply(int fd, Unsent& connection, std::string_view answer) {
    const ssize_t sent = send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return drop(fd);
    answer.remove_prefix(static_cast<std::size_t>(sent < 0 ? 0 : sent));
    if (answer.empty()) return;
    connection.tail = std::string(answer);
    connection.waits = wait_for_room(fd, true);
  }

  /// Sends the kept rest of an answer.
  void flush(int fd, Unsent& connection) {
    const ssize_t sent = send(fd, connection.tail.data(), connection.tail.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return drop(fd);
    connection.tail.erase(0, static_cast<std::size_t>(sent < 0 ? 0 : sent));
    if (connection.tail.empty()) connection.waits = !wait_for_room(fd, false);
  }

  void drop(int fd) {
    open_[static_cast<std::size_t>(fd)] = false;
    close(fd);
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

  int listener_;
  int signals_;
  int epoll_ = -1;
  Service service_;
  std::vector<Connection> connections_;  // by descriptor
  std::vector<bool> open_;
};

}  // namespace bench::raw
