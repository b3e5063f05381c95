// SPDX-License-Identifier: MIT
#include "support/scripted_server.hpp"

#include <utility>

namespace skua::testing {

ScriptedServer::ScriptedServer(std::vector<std::function<void(Client&)>> talks)
    : listener_(*net::create_listener(*Address::parse("127.0.0.1:0"))) {
  thread_ = std::thread([this, talks = std::move(talks)] {
    for (const std::function<void(Client&)>& talk : talks) {
      static_cast<void>(listener_.wait_readable());
      if (is_ending_) return;
      Socket socket(bsd::accept_one(listener_.descriptor()));
      if (!socket) return;
      Client peer(std::move(socket), Transport::Tcp);
      talk(peer);
    }
  });
}

ScriptedServer::~ScriptedServer() {
  is_ending_ = true;
  const auto last = TcpSocket::connect_to(*Address::parse("127.0.0.1", port()), 20s);
  thread_.join();
}

std::uint16_t ScriptedServer::port() const {
  return net::local_address(listener_.descriptor()).port();
}

}  // namespace skua::testing
