// SPDX-License-Identifier: MIT
// A reverse proxy that begins its connections with a PROXY header. On every back end, over every
// transport.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/socket.hpp"
#include "proxy/proxy_fixture.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::get;
using testing::ProxyTest;

class ProxyHeaders : public ProxyTest {
 protected:
  ProxyHeaders() {
    upstream_options_.trusted_proxies = std::make_shared<TrustedProxies>(
        ProxyRules{.networks = {Network::parse("127.0.0.0/8").value()}, .proxy_protocol = true});
    upstream_router_.get("/api/who", [](Request& request) {
      return request.peer() + " " + request.connection().local_address().to_string() + " " +
             std::string(request.scheme());
    });
  }
  static std::string ask(Client& client, std::string_view fields = {}) {
    client.send(get("/api/who", fields));
    const std::optional<Answer> answer = client.answer();
    if (!answer) return "no answer";
    return answer->status == 200 ? answer->body : std::to_string(answer->status);
  }
  static std::string address_of(const Client& client) {
    return net::local_address(client.descriptor()).to_string();
  }
  std::string place() { return " 127.0.0.1:" + std::to_string(front().port()) + " "; }
};

TEST_P(ProxyHeaders, NameTheClient) {
  proxy_options_.proxy_protocol = ProxyProtocol::V1;
  Client client = front().connect();
  EXPECT_EQ(ask(client), address_of(client) + place() + "http");
}

TEST_P(ProxyHeaders, NameTheClientAndItsScheme) {
  proxy_options_.proxy_protocol = ProxyProtocol::V2;
  Client client = front().connect();
  EXPECT_EQ(ask(client), address_of(client) + place() + (testing::is_secure() ? "https" : "http"));
}

TEST_P(ProxyHeaders, NameTheClientOfAnotherProxy) {
  proxy_options_.proxy_protocol = ProxyProtocol::V2;
  options_.trusted_proxies = std::make_shared<TrustedProxies>(
      ProxyRules{.networks = {Network::parse("127.0.0.0/8").value()},
                 .forwarded = ForwardedFields::XForwarded});
  Client client = front().connect();
  EXPECT_EQ(ask(client, "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n"),
            "192.0.2.1:0" + place() + "https");
  EXPECT_EQ(ask(client, "X-Forwarded-For: 2001:db8::1\r\nX-Forwarded-Proto: http\r\n"),
            "[2001:db8::1]:0 [::ffff:127.0.0.1]:" + std::to_string(front().port()) + " http");
}

TEST_P(ProxyHeaders, ShareConnectionsAmongRequestsOfOneClientOnly) {
  proxy_options_.proxy_protocol = ProxyProtocol::V1;
  Client first = front().connect();
  Client second = front().connect();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(first), address_of(first) + place() + "http");
    EXPECT_EQ(ask(second), address_of(second) + place() + "http");
  }
  EXPECT_EQ(upstream()->counters().connections_accepted, 2U);
}

TEST_P(ProxyHeaders, PrecedeTheHandshakeOfAWebSocket) {
  proxy_options_.proxy_protocol = ProxyProtocol::V2;
  upstream_router_.websocket("/api/socket", [](Request& request, WebSocket& socket) -> Task<> {
    socket.send(request.peer());
    while (auto message = co_await socket.receive()) continue;
  });
  Client client = front().connect();
  const std::string address = address_of(client);
  testing::WebSocketClient socket(std::move(client));
  const std::string head = socket.open(testing::handshake("/api/socket"));
  EXPECT_NE(head.find(testing::opened()), head.npos) << head;
  EXPECT_EQ(socket.text(), address);
}

TEST_P(ProxyHeaders, AreMissedByAServerThatRequiresThem) {
  Client client = front().connect();
  EXPECT_EQ(ask(client), "502");
  EXPECT_EQ(upstream()->counters().refused_proxy_headers, 1U);
}

INSTANTIATE_TEST_SUITE_P(Backends, ProxyHeaders, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
