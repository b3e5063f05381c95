// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/listener.hpp"
#include "net/socket.hpp"
#include "skua/address.hpp"
#include "support/closed_port.hpp"

namespace skua::test {

/// A server that answers each read with what `say` returns, on any number of connections.
class BluntServer {
 public:
  struct Answer {
    std::string text{};
    bool closes = false;
  };

  explicit BluntServer(std::function<Answer(std::string_view received)> say)
      : listener_(*net::create_listener(*Address::parse("127.0.0.1:0"))), say_(std::move(say)) {
    thread_ = std::thread([this] { run(); });
  }
  BluntServer(const BluntServer&) = delete;
  BluntServer& operator=(const BluntServer&) = delete;
  ~BluntServer() {
    is_ending_ = true;
    ::shutdown(listener_.descriptor(), SHUT_RDWR);
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const {
    return net::local_address(listener_.descriptor()).port();
  }
  /// The number of reads that returned data.
  [[nodiscard]] unsigned requests() const noexcept { return requests_; }

 private:
  void run() {
    std::vector<pollfd> watched{{listener_.descriptor(), POLLIN, 0}};
    while (!is_ending_) {
      ::poll(watched.data(), watched.size(), -1);
      for (std::size_t i = watched.size() - 1; i != 0; --i) {
        if (watched[i].revents == 0 || answer(watched[i].fd)) continue;
        ::close(watched[i].fd);
        watched.erase(watched.begin() + static_cast<std::ptrdiff_t>(i));
      }
      const int accepted = ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
      if (accepted >= 0) watched.push_back({accepted, POLLIN, 0});
    }
    for (std::size_t i = 1; i < watched.size(); ++i) ::close(watched[i].fd);
  }

  /// Reports whether the connection stays open.
  bool answer(int connection) {
    std::string received(65'536, '\0');
    const ssize_t count = ::recv(connection, received.data(), received.size(), 0);
    if (count <= 0) return false;
    ++requests_;
    const Answer answer =
        say_(std::string_view(received).substr(0, static_cast<std::size_t>(count)));
    ::send(connection, answer.text.data(), answer.text.size(), MSG_NOSIGNAL);
    return !answer.closes;
  }

  Socket listener_;
  const std::function<Answer(std::string_view)> say_;
  std::atomic<unsigned> requests_{0};
  std::atomic<bool> is_ending_{false};
  std::thread thread_;
};

using skua::testing::ClosedPort;

}  // namespace skua::test
