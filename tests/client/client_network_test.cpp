// SPDX-License-Identifier: MIT
// Clients that are bound to an IP version, a network interface, or an address of this machine.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "client_fixture.hpp"
#include "skua/address.hpp"
#include "support/scripted_server.hpp"

namespace skua {
namespace {

class ClientNetwork : public ::testing::TestWithParam<BackendChoice> {
 protected:
  std::string url(std::string_view host, std::string_view target) {
    return "http://" + std::string(host) + ":" + std::to_string(server_.port()) +
           std::string(target);
  }
  Result<std::string, Problem> fetch(std::string url) {
    Result<std::string, Problem> got = Problem();
    testing::run_on(GetParam(), ask(std::move(url), got));
    return got;
  }
  ClientOptions options_;

 private:
  static Router routes() {
    Router router;
    router.get("/peer", [](const Request& request) {
      return request.connection().peer_address().with_port(0).to_string();
    });
    router.get("/moved", [](const Request& request) {
      return Response::redirect("http://[::1]:" + std::string(request.query("port").value_or("")) +
                                "/peer");
    });
    router.websocket("/socket", [](const Request& request, WebSocket& socket) -> Task<> {
      const std::string peer = request.connection().peer_address().with_port(0).to_string();
      co_await socket.send(peer);
    });
    return router;
  }

  Task<> ask(std::string url, Result<std::string, Problem>& got) {
    Client client(options_);
    got = co_await client.get(url).text();
  }

 protected:
  Router router_ = routes();
  testing::TestServer server_{router_, BackendChoice::Auto, {}, testing::Transport::Tcp};
};

TEST_P(ClientNetwork, OnlyAddressesOfTheVersionAreUsed) {
  options_.ip_versions = IpVersions::Ipv4;
  EXPECT_EQ(fetch(url("localhost", "/peer")).value_or("problem"), "127.0.0.1:0");
  options_.ip_versions = IpVersions::Ipv6;
  const auto none = fetch(url("127.0.0.1", "/peer"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::NameNotResolved);
  EXPECT_EQ(none.error().text, "could not resolve 127.0.0.1: it has no IPv6 address");
}

TEST_P(ClientNetwork, RedirectsObeyTheVersion) {
  options_.ip_versions = IpVersions::Ipv4;
  const auto moved = fetch(url("127.0.0.1", "/moved?port=" + std::to_string(server_.port())));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().text, "could not resolve ::1: it has no IPv4 address");
}

TEST_P(ClientNetwork, ProxiesObeyTheVersion) {
  options_.ip_versions = IpVersions::Ipv6;
  options_.proxy.url = "http://127.0.0.1:1";
  const auto refused = fetch("http://example.test/");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text, "could not resolve 127.0.0.1: it has no IPv6 address");
}

#if defined(__linux__)  // elsewhere 127.0.0.2 is not an address of the machine
TEST_P(ClientNetwork, ConnectionsComeFromTheAddress) {
  options_.network_interface = "127.0.0.2";
  EXPECT_EQ(fetch(url("localhost", "/peer")).value_or("problem"), "127.0.0.2:0");
}

TEST_P(ClientNetwork, WebSocketsComeFromTheAddress) {
  options_.network_interface = "127.0.0.2";
  std::string said;
  const std::string target = "ws" + url("127.0.0.1", "/socket").substr(4);
  const auto body = [&]() -> Task<> {
    Client client(options_);
    auto socket = co_await client.websocket(target).open();
    if (!socket) co_return;
    auto message = co_await socket->receive();
    if (message) said = message->text;
  };
  testing::run_on(GetParam(), body());
  EXPECT_EQ(said, "127.0.0.2:0");
}

TEST_P(ClientNetwork, ConnectionsToProxiesComeFromTheAddress) {
  std::string peer;
  {
    const testing::ScriptedServer proxy([&](testing::Client& client) {
      client.some();
      peer = net::peer_address(client.descriptor()).with_port(0).to_string();
      client.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    options_.network_interface = "127.0.0.3";
    options_.proxy.url = "http://127.0.0.1:" + std::to_string(proxy.port());
    EXPECT_EQ(fetch("http://example.test/").value_or("problem"), "ok");
  }
  EXPECT_EQ(peer, "127.0.0.3:0");
}
#endif

TEST_P(ClientNetwork, ConnectionsUseTheInterface) {
  const auto all = network_interfaces();
  ASSERT_TRUE(all);
  for (const NetworkInterface& one : *all) {
    if (one.is_loopback) options_.network_interface = one.name;
  }
  if (options_.network_interface.empty()) GTEST_SKIP() << "no loopback interface";
  EXPECT_EQ(fetch(url("127.0.0.1", "/peer")).value_or("problem"), "127.0.0.1:0");
}

TEST_P(ClientNetwork, AnInterfaceThatIsMissingIsNamed) {
  options_.network_interface = "nosuchif0";
  const auto refused = fetch(url("127.0.0.1", "/peer"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text,
            "could not connect from 'nosuchif0': this machine has no such network interface or "
            "address");
}

TEST_P(ClientNetwork, AnAddressOfTheOtherVersionIsRefused) {
  options_.network_interface = "127.0.0.1";
  options_.ip_versions = IpVersions::Ipv6;
  const auto make = [](ClientOptions options) -> Task<> {
    EXPECT_THROW(Client client(options), std::invalid_argument);
    co_return;
  };
  testing::run_on(GetParam(), make(options_));
}

INSTANTIATE_TEST_SUITE_P(All, ClientNetwork, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
