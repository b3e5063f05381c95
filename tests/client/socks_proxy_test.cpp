// SPDX-License-Identifier: MIT
// A client behind a SOCKS 5 proxy: plain requests, TLS, HTTP/2 and WebSockets.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client_fixture.hpp"
#include "support/scripted_server.hpp"
#include "support/tunnels.hpp"

namespace skua {
namespace {

using namespace std::string_view_literals;

class ClientSocks : public testing::ClientTest {
 protected:
  ClientSocks() {
    router_.get("/", [] { return "there"; });
    router_.websocket("/echo", [](WebSocket& socket) -> Task<> {
      while (auto message = co_await socket.receive()) co_await socket.send(message->text);
    });
  }
  /// Runs a task with a client behind a proxy that plays these rules, one connection each.
  void run_through(std::string_view scheme, const std::vector<testing::SocksRules>& rules,
                   const std::function<Task<>(Client&)>& body) {
    const Address server = *Address::parse("127.0.0.1", this->server().port());
    std::vector<std::function<void(testing::Client&)>> talks;
    asked_.resize(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
      talks.emplace_back([this, server, rule = rules[i], i](testing::Client& peer) {
        testing::serve_socks(peer, server, rule, asked_[i]);
      });
    }
    const testing::ScriptedServer proxy(std::move(talks));
    proxy_port_ = std::to_string(proxy.port());
    options_.proxy.url = std::string(scheme) + "127.0.0.1:" + proxy_port_;
    run(body);
  }
  Result<std::string, Problem> fetch_through(std::string_view scheme,
                                             const std::vector<testing::SocksRules>& rules,
                                             std::string url) {
    Result<std::string, Problem> got = Problem();
    const auto body = [&](Client& client) -> Task<> { got = co_await client.get(url).text(); };
    run_through(scheme, rules, body);
    return got;
  }
  /// The URL of the server under another name; only plain ones, as certificates name hosts.
  std::string url_of(std::string_view host) {
    return "http://" + std::string(host) + ":" + std::to_string(server().port()) + "/";
  }
  [[nodiscard]] std::string tunnel_to(std::string_view host) {
    return "could not open a tunnel to " + std::string(host) + ":" +
           std::to_string(server().port()) + " through proxy 127.0.0.1:" + proxy_port_ + ": ";
  }

  std::vector<testing::SocksAsked> asked_;
  std::string proxy_port_;
};

TEST_P(ClientSocks, RequestsGoThroughATunnel) {
  const auto got = fetch_through("socks5://", {{}}, url("/"));
  EXPECT_EQ(got.value_or(got ? "" : got.error().text), "there");
  EXPECT_EQ(asked_[0].host, "127.0.0.1");
  EXPECT_EQ(asked_[0].port, server().port());
  EXPECT_FALSE(asked_[0].is_name);
  EXPECT_EQ(asked_[0].user, "");
}

TEST_P(ClientSocks, OneConnectionServesSeveralRequests) {
  run_through("socks5h://", {{}}, [this](Client& client) -> Task<> {
    for (int i = 0; i < 3; ++i) {
      auto got = co_await client.get(url("/")).text();
      EXPECT_EQ(got.value_or("problem"), "there");
    }
  });
}

TEST_P(ClientSocks, NamesAreResolvedByTheProxyOrHere) {
  if (testing::is_secure(wire())) GTEST_SKIP() << "the certificate has no such name";
  const auto there = fetch_through("socks5h://", {{}}, url_of("name.invalid"));
  EXPECT_EQ(there.value_or(there ? "" : there.error().text), "there");
  EXPECT_EQ(asked_[0].host, "name.invalid");
  EXPECT_TRUE(asked_[0].is_name);
  options_.hosts = {{"fixed.test", 0, "192.0.2.7"}};
  const auto here = fetch_through("socks5://", {{}}, url_of("fixed.test"));
  EXPECT_EQ(here.value_or(here ? "" : here.error().text), "there");
  EXPECT_EQ(asked_[0].host, "192.0.2.7");
  EXPECT_FALSE(asked_[0].is_name);
  const auto unknown = fetch_through("socks5://", {{}}, url_of("name.invalid"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code(), Errc::NameNotResolved) << unknown.error().text;
}

TEST_P(ClientSocks, TheNextAddressIsTriedIfTheProxyCannotReachOne) {
  if (testing::is_secure(wire())) GTEST_SKIP() << "the certificate has no such name";
  const auto got = fetch_through("socks5://", {{.refusal_code = 8}, {}}, url_of("localhost"));
  EXPECT_EQ(got.value_or(got ? "" : got.error().text), "there");
  EXPECT_EQ(asked_[0].host, "::1");
  EXPECT_EQ(asked_[1].host, "127.0.0.1");
  options_.ip_versions = IpVersions::Ipv4;
  const auto only = fetch_through("socks5://", {{.refusal_code = 5}}, url_of("localhost"));
  ASSERT_FALSE(only);
  EXPECT_EQ(asked_[0].host, "127.0.0.1");
  EXPECT_EQ(only.error().text, tunnel_to("localhost") + "the host refused its connection");
}

TEST_P(ClientSocks, TheProxyLearnsNameAndPassword) {
  const testing::SocksRules rules{.user = "u:1", .password = "p w"};
  const auto got = fetch_through("socks5h://u%3A1:p%20w@", {rules}, url("/"));
  EXPECT_EQ(got.value_or(got ? "" : got.error().text), "there");
  EXPECT_EQ(asked_[0].user, "u:1");
  EXPECT_EQ(asked_[0].password, "p w");
  const auto wrong = fetch_through("socks5h://u%3A1:secret@", {rules}, url("/"));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, tunnel_to("127.0.0.1") + "it rejected the name and password");
  const auto none = fetch_through("socks5h://", {rules}, url("/"));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Errc::ProxyRefused);
  EXPECT_EQ(none.error().text,
            tunnel_to("127.0.0.1") +
                "it requires authentication, and no name and password are set for it");
}

TEST_P(ClientSocks, WebSocketsGoThroughATunnel) {
  if (wire() == testing::Wire::Http2 || wire() == testing::Wire::Http2Tls) {
    GTEST_SKIP() << "WebSockets use HTTP/1.1";
  }
  std::string said;
  run_through("socks5h://", {{}}, [&](Client& client) -> Task<> {
    const std::string target = "ws" + url("/echo").substr(4);
    auto socket = co_await client.websocket(target).open();
    EXPECT_TRUE(socket) << socket.error().text;
    if (!socket) co_return;
    co_await socket->send("hello");
    auto message = co_await socket->receive();
    if (message) said = message->text;
  });
  EXPECT_EQ(said, "hello");
}

TEST_P(ClientSocks, HostileProxiesAreNamed) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "it closed the connection without an answer"},
      {"\x05"sv, "it closed the connection in the middle of its answer"},
      {"HTTP/1.1 400 No\r\n\r\n"sv, "it speaks HTTP instead of SOCKS 5"},
      {"\x05\x00\x05\x00\x00\x01"sv, "it sent more than an answer"},
      {"\xff\xff\xff\xff"sv, "it does not speak SOCKS 5: the version of its answer is 255"}};
  for (const auto& [answer, why] : cases) {
    testing::ScriptedServer proxy([answer](testing::Client& peer) {
      peer.some();
      peer.send(answer);
    });
    options_.proxy.url = "socks5h://127.0.0.1:" + std::to_string(proxy.port());
    std::string said;
    run([&](Client& client) -> Task<> {
      auto got = co_await client.get(url("/")).text();
      if (!got) said = got.error().text;
    });
    EXPECT_TRUE(said.ends_with(std::string(" through proxy 127.0.0.1:") +
                               std::to_string(proxy.port()) + ": " + std::string(why)))
        << said;
  }
}

TEST_P(ClientSocks, AProxyThatStallsIsGivenUp) {
  testing::ScriptedServer proxy([](testing::Client& peer) { peer.rest(); });
  options_.proxy.url = "socks5h://127.0.0.1:" + std::to_string(proxy.port());
  options_.timeouts.head = 50ms;
  run([&](Client& client) -> Task<> {
    auto got = co_await client.get(url("/")).text();
    EXPECT_FALSE(got);
    if (!got) {
      EXPECT_EQ(got.error().code(), Errc::TimedOut) << got.error().text;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, ClientSocks, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

}  // namespace
}  // namespace skua
