// SPDX-License-Identifier: MIT
//
// Rung 4, keep-alive. In: any number of connections at a time. Out: an answer to each request.
// The idea: a connection stays open for the next request, so a thread cannot wait for one of them.
// It waits for all: epoll tells which can be read, and each keeps what it needs to go on later.

#include "head.hpp"
#include "threads.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using ladder::Head;
using ladder::Method;
using ladder::Status;

struct Connection {
  int fd = -1;
  std::string input;         // what has arrived of a head, and maybe of requests behind it
  std::size_t searched = 0;  // bytes of it without the end of the head
  Head head;                 // of the request whose body is arriving; its views are stale by then
  std::size_t body_left = 0;
  std::string output;  // what the peer has no room for
  bool is_closing = false;
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
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == listener_) {
          accept_all();
        } else if (Connection& connection = at(event.data.fd); connection.output.empty()) {
          receive(connection);
        } else {
          flush(connection);
        }
      }
    }
  }

 private:
  Connection& at(int fd) { return *connections_[static_cast<std::size_t>(fd)]; }

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
      connections_[index] = std::make_unique<Connection>();
      connections_[index]->fd = fd;
      watch(EPOLL_CTL_ADD, fd, EPOLLIN);
    }
  }

  void drop(Connection& connection) {
    const int fd = connection.fd;
    connections_[static_cast<std::size_t>(fd)].reset();
    close(fd);  // which ends the watch, too
  }

  void receive(Connection& connection) {
    const ssize_t size = recv(connection.fd, buffer_.data(), buffer_.size(), 0);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) return drop(connection);
    if (connection.is_closing) return;  // after a refusal, see ladder::close_gently()
    connection.input.append(buffer_.data(), static_cast<std::size_t>(size));
    serve(connection);
  }

  // Answers what is complete, until the peer has no room for more.
  void serve(Connection& connection) {
    std::string_view rest = connection.input;
    while (connection.output.empty() && !connection.is_closing && step(connection, rest)) {
    }
    connection.input.erase(0, connection.input.size() - rest.size());
    if (!connection.output.empty()) return watch(EPOLL_CTL_MOD, connection.fd, EPOLLOUT);
    if (connection.is_closing) shutdown(connection.fd, SHUT_WR);
  }

  // Takes a head or a piece of a body off `input`; returns false if more has to arrive.
  bool step(Connection& connection, std::string_view& input) {
    if (connection.body_left > 0) {
      // The body is counted, not kept: 400 connections with 10 MiB each would be 4 GiB.
      const std::size_t size = std::min(input.size(), connection.body_left);
      input.remove_prefix(size);
      connection.body_left -= size;
      if (connection.body_left > 0) return false;
      answer(connection);
      return true;
    }
    const std::size_t size = ladder::head_size(input, connection.searched);
    if (size > ladder::max_head_bytes || (size == 0 && input.size() > ladder::max_head_bytes)) {
      refuse(connection, Status::HeadTooLarge);
      return true;
    }
    connection.searched = size == 0 ? input.size() : 0;
    if (size == 0) return false;
    begin(connection, input.substr(0, size));
    input.remove_prefix(size);
    const bool is_all = input.size() >= connection.body_left;
    if (connection.head.expects_continue && !is_all) send_text(connection, ladder::please_continue);
    return true;
  }

  void begin(Connection& connection, std::string_view text) {
    const Status status = connection.head.parse(text);
    if (status != Status::Ok) return refuse(connection, status);
    connection.body_left = connection.head.content_length;
    if (connection.body_left == 0) answer(connection);
  }

  void answer(Connection& connection) {
    const Head& head = connection.head;
    const std::string content = head.method == Method::Post ? std::to_string(head.content_length)
                                                            : std::string(ladder::hello);
    std::string text = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
    if (!head.keeps_alive) text += "Connection: close\r\n";
    text += "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
    send_text(connection, text);
    connection.is_closing = !head.keeps_alive;
  }

  void refuse(Connection& connection, Status why) {
    send_text(connection, ladder::refusal(why));
    connection.body_left = 0;
    connection.is_closing = true;
  }

  void send_text(Connection& connection, std::string_view text) {
    if (connection.output.empty()) {
      const ssize_t size = send(connection.fd, text.data(), text.size(), MSG_NOSIGNAL);
      // If the peer has left, receive() will learn so.
      text.remove_prefix(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    connection.output += text;
  }

  void flush(Connection& connection) {
    const std::string& output = connection.output;
    const ssize_t size = send(connection.fd, output.data(), output.size(), MSG_NOSIGNAL);
    if (size < 0 && errno != EAGAIN && errno != EINTR) return drop(connection);
    connection.output.erase(0, size < 0 ? 0 : static_cast<std::size_t>(size));
    if (!connection.output.empty()) return;
    watch(EPOLL_CTL_MOD, connection.fd, EPOLLIN);
    serve(connection);  // requests that had to wait for room
  }

  int listener_;
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;  // by descriptor
  std::array<char, std::size_t{64} * 1024> buffer_;       // of whichever connection is read
};

}  // namespace

int main(int count, char** arguments) {
  ladder::run_on_every_core(ladder::port_argument(count, arguments),
                            [](int listener) { std::make_unique<Server>(listener)->run(); });
}
