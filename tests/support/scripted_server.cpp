// SPDX-License-Identifier: MIT
#include "support/scripted_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <utility>

namespace skua::testing {

ScriptedServer::ScriptedServer(std::vector<std::function<void(Client&)>> talks)
    : listener_(*net::create_listener(*Address::parse("127.0.0.1:0"))) {
  thread_ = std::thread([this, talks = std::move(talks)] {
    for (const std::function<void(Client&)>& talk : talks) {
      // The listener is non-blocking. The destructor's shutdown() also ends this wait.
      pollfd wanted{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0};
      ::poll(&wanted, 1, -1);
      Socket socket(::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket) return;
      Client peer(std::move(socket), Transport::Tcp);
      talk(peer);
    }
  });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_.descriptor(), SHUT_RDWR);
  thread_.join();
}

std::uint16_t ScriptedServer::port() const {
  return net::local_address(listener_.descriptor()).port();
}

}  // namespace skua::testing
