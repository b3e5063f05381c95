// SPDX-License-Identifier: MIT
//
// Rung 5, pooled. In: requests, maybe many in one piece. Out: all their answers, by one send(2).
// The idea: all answers of a turn are gathered in one buffer, which the thread reuses, and whatever
// a connection keeps for a while lies in buffers of a pool. After its first requests the server
// allocates no memory.

#include "conversation.hpp"
#include "threads.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Connection {
  ladder::Conversation conversation;
  std::string output;  // what the peer has no room for, in a buffer of the pool
};

class Server final {
 public:
  explicit Server(int listener) : listener_(listener), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    fcntl(listener_, F_SETFL, O_NONBLOCK);
    watch(EPOLL_CTL_ADD, listener_, EPOLLIN);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    while (true) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i) {
        const int fd = events[static_cast<std::size_t>(i)].data.fd;
        if (fd == listener_) {
          accept_all();
        } else if (at(fd).output.empty()) {
          receive(fd);
        } else {
          flush(fd);
        }
      }
    }
  }

 private:
  Connection& at(int fd) { return connections_[static_cast<std::size_t>(fd)]; }

  void watch(int operation, int fd, std::uint32_t events) const {
    epoll_event event{.events = events, .data = {.fd = fd}};
    epoll_ctl(epoll_, operation, fd, &event);
  }

  void accept_all() {
    while (true) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      const auto index = static_cast<std::size_t>(fd);
      if (index >= connections_.size()) connections_.resize(index + 1);
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
  }

  void drop(int fd) {
    at(fd) = {};
    close(fd);
  }

  void receive(int fd) {
    const ssize_t size = recv(fd, input_.data(), input_.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return drop(fd);
    ladder::Conversation& conversation = at(fd).conversation;
    if (conversation.is_over()) return;  // after a refusal, see ladder::close_gently()
    answers_.clear();                    // keeps its memory
    conversation.receive({input_.data(), static_cast<std::size_t>(size)}, shared_, answers_);
    if (!answers_.empty()) send_answers(fd);
  }

  void send_answers(int fd) {
    const ssize_t size = send(fd, answers_.data(), answers_.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN) return drop(fd);
    const std::string_view rest =
        std::string_view(answers_).substr(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (rest.empty()) return finish(fd);
    // Nothing more is read from this peer until it has read: that bounds what is kept for it.
    at(fd).output = shared_.pool.take();
    at(fd).output = rest;
    watch(EPOLL_CTL_MOD, fd, EPOLLOUT);
  }

  void flush(int fd) {
    std::string& output = at(fd).output;
    const ssize_t size = send(fd, output.data(), output.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR) return drop(fd);
    output.erase(0, size < 0 ? 0 : static_cast<std::size_t>(size));
    if (!output.empty()) return;
    shared_.pool.give_back(output);
    watch(EPOLL_CTL_MOD, fd, EPOLLIN);
    finish(fd);
  }

  // All answers are sent.
  void finish(int fd) {
    if (at(fd).conversation.is_over()) shutdown(fd, SHUT_WR);
  }

  int listener_;
  int epoll_;
  ladder::Shared shared_;
  std::vector<Connection> connections_;             // by descriptor
  std::array<char, std::size_t{64} * 1024> input_;  // of whichever connection is read
  std::string answers_;                             // of all requests in it
};

}  // namespace

int main(int count, char** arguments) {
  ladder::run_on_every_core(ladder::port_argument(count, arguments),
                            [](int listener) { std::make_unique<Server>(listener)->run(); });
}
