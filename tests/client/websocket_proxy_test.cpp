// SPDX-License-Identifier: MIT
// A client's WebSocket through an HTTP proxy: always in a tunnel, with TLS or without.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "client_websocket_fixture.hpp"
#include "skua/address.hpp"
#include "support/scripted_server.hpp"
#include "support/tunnels.hpp"

namespace skua {
namespace {

using Peer = testing::Client;

/// A proxy that opens one tunnel to an address.
void open_tunnel(Peer& peer, std::string& asked) {
  constexpr std::string_view connect = "CONNECT ";
  while (asked.find("\r\n\r\n") == asked.npos) {
    const std::string some = peer.some();
    if (some.empty()) return;
    asked += some;
  }
  const std::string target =
      asked.substr(connect.size(), asked.find(' ', connect.size()) - connect.size());
  const auto address = Address::parse(target);
  ASSERT_TRUE(asked.starts_with(connect) && address) << asked;
  const auto server = TcpSocket::connect_to(*address);
  ASSERT_TRUE(server);
  peer.send("HTTP/1.1 200 Connection established\r\n\r\n");
  testing::carry(peer.descriptor(), server->descriptor());
}

class ClientWebSocketProxy : public testing::ClientWebSocket {
 protected:
  /// Runs a task with a client behind a proxy that runs `talk` on its only connection.
  void run_through(std::function<void(Peer&)> talk, const std::function<Task<>(Client&)>& body) {
    const testing::ScriptedServer proxy(std::move(talk));
    options_.proxy.url = "http://u:p@127.0.0.1:" + std::to_string(proxy.port());
    run(body);
  }
};

TEST_P(ClientWebSocketProxy, MessagesGoThroughATunnel) {
  router_.websocket("/echo", [](const Request& request, WebSocket& socket) -> Task<> {
    const std::string shown(request.header("Proxy-Authorization").value_or("nothing"));
    co_await socket.send(shown);
    while (auto message = co_await socket.receive()) co_await socket.send(message->text);
  });
  std::string asked;
  const auto talk = [&asked](Peer& peer) { open_tunnel(peer, asked); };
  run_through(talk, [this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/echo"));
    EXPECT_TRUE(socket) << socket.error().text;
    if (!socket) co_return;
    auto shown = co_await socket->receive();
    EXPECT_TRUE(shown && shown->text == "nothing");
    for (const std::size_t size : {0U, 125U, 65'536U, 1'000'000U}) {
      const std::string text(size, 'a');
      EXPECT_TRUE(co_await socket->send(text));
      auto answer = co_await socket->receive();
      EXPECT_TRUE(answer && answer->text == text) << size;
    }
    socket->close();
    EXPECT_FALSE(co_await socket->receive());
    EXPECT_EQ(socket->close_reason().code, CloseCode::Normal);
  });
  const std::string place = "127.0.0.1:" + std::to_string(server().port());
  EXPECT_TRUE(asked.starts_with("CONNECT " + place + " HTTP/1.1\r\nHost: " + place + "\r\n"))
      << asked;
  EXPECT_NE(asked.find("Proxy-Authorization: Basic dTpw\r\n"), asked.npos) << asked;
}

TEST_P(ClientWebSocketProxy, WhatTheProxyRefusesIsNotAskedOfTheServer) {
  std::string asked;
  const auto talk = [&asked](Peer& peer) {
    asked = peer.some();
    peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
  };
  run_through(talk, [this](Client& client) -> Task<> {
    auto socket = co_await client.websocket(url("/echo"));
    EXPECT_FALSE(socket);
    if (!socket) {
      EXPECT_EQ(socket.error().code(), Errc::ProxyRefused) << socket.error().text;
    }
  });
  EXPECT_TRUE(asked.starts_with("CONNECT 127.0.0.1:")) << asked;
  EXPECT_EQ(asked.find("Upgrade"), asked.npos) << asked;
}

INSTANTIATE_TEST_SUITE_P(All, ClientWebSocketProxy, testing::client_test_values(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
