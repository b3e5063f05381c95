// SPDX-License-Identifier: MIT
// How `skua get` and `skua ws` reach servers: IP versions, interfaces, SOCKS proxies.
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "cli/get_fixture.hpp"
#include "support/echo_socket.hpp"
#include "support/scripted_server.hpp"
#include "support/tunnels.hpp"

namespace skua::test {
namespace {

class GetNetwork : public GetFixture {
 protected:
  void SetUp() override {
    for (const char* name : {"https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"}) unsetenv(name);
    router_.get("/peer", [](const Request& request) {
      return request.connection().peer_address().with_port(0).to_string() + "\n";
    });
    router_.websocket("/echo", testing::echo);
    start_server();
  }
  void TearDown() override { unsetenv("ALL_PROXY"); }

  /// A SOCKS proxy for as many connections as there are rules.
  std::unique_ptr<testing::ScriptedServer> socks(const std::vector<testing::SocksRules>& rules) {
    const Address server = *Address::parse("127.0.0.1", server_->port());
    asked_.assign(rules.size(), {});
    std::vector<std::function<void(testing::Client&)>> talks;
    for (std::size_t i = 0; i < rules.size(); ++i) {
      talks.emplace_back([this, server, rule = rules[i], i](testing::Client& peer) {
        testing::serve_socks(peer, server, rule, asked_[i]);
      });
    }
    return std::make_unique<testing::ScriptedServer>(std::move(talks));
  }
  static std::string at(const testing::ScriptedServer& proxy) {
    return "127.0.0.1:" + std::to_string(proxy.port());
  }

  std::vector<testing::SocksAsked> asked_;
};

TEST_F(GetNetwork, OnlyOneIpVersionIsUsed) {
  const std::string port = std::to_string(server_->port());
  const Ended four = run({"get", "-4", "localhost:" + port + "/peer"});
  EXPECT_EQ(four.output, "127.0.0.1:0\n") << four.errors;
  const Ended six = run({"get", "--ipv6", url("/peer")});
  EXPECT_EQ(six.errors, "skua: could not resolve 127.0.0.1: it has no IPv6 address\n");
  EXPECT_EQ(six.code, 6);
}

TEST_F(GetNetwork, ConnectionsComeFromTheInterface) {
  EXPECT_EQ(run({"get", "--interface", "127.0.0.1", url("/peer")}).output, "127.0.0.1:0\n");
  const Ended missing = run({"get", "--interface", "nosuchif0", url("/peer")});
  EXPECT_EQ(missing.errors,
            "skua: could not connect from 'nosuchif0': this machine has no such network interface "
            "or address\n");
  EXPECT_EQ(missing.code, 7);
}

TEST_F(GetNetwork, TransfersAreLimitedToARate) {
  router_.get("/content", [] { return std::string(20'000, 'x'); });
  start_server();
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run({"get", url("/content"), "--limit-rate", "100kb"}).output.size(), 20'000U);
  EXPECT_EQ(run({"get", url("/content"), "-o", "file", "--limit-rate", "100kb"}).code, 0);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 2 * 120ms);
  EXPECT_EQ(content("file").size(), 20'000U);
  for (const char* const rate : {"0", "-1", "fast", "1.5"}) {
    const Ended ended = run({"get", url("/content"), "--limit-rate", rate});
    EXPECT_EQ(ended.code, 2) << rate;
    EXPECT_EQ(ended.output, "") << rate;
  }
}

TEST_F(GetNetwork, RequestsGoThroughASocksProxy) {
  const auto proxy = socks({{.user = "me", .password = "pw"}, {.user = "me", .password = "pw"}});
  const Ended ended =
      run({"get", "http://name.invalid/peer", "--proxy", "socks5h://me:pw@" + at(*proxy)});
  EXPECT_EQ(ended.output, "127.0.0.1:0\n") << ended.errors;
  EXPECT_EQ(asked_[0].host, "name.invalid");
  EXPECT_EQ(asked_[0].port, 80);
  const Ended wrong =
      run({"get", "http://name.invalid/peer", "--proxy", "socks5h://me:secret@" + at(*proxy)});
  EXPECT_EQ(wrong.errors, "skua: could not open a tunnel to name.invalid:80 through proxy " +
                              at(*proxy) + ": it rejected the name and password\n");
  EXPECT_EQ(wrong.code, 10);
}

TEST_F(GetNetwork, TheEnvironmentMayNameASocksProxy) {
  const auto proxy = socks({{}});
  setenv("ALL_PROXY", ("socks5h://" + at(*proxy)).c_str(), 1);
  EXPECT_EQ(run({"get", "http://name.invalid/peer"}).output, "127.0.0.1:0\n");
  EXPECT_EQ(run({"get", "http://name.invalid/peer", "--no-proxy", "*"}).code, 6);
}

TEST_F(GetNetwork, WebSocketsGoThroughASocksProxy) {
  const auto proxy = socks({{}});
  const Ended ended = run({"ws", "ws://name.invalid/echo", "-m", "hello", "-n", "1", "--proxy",
                           "socks5h://" + at(*proxy)});
  EXPECT_EQ(ended.output, "hello\n") << ended.errors;
  EXPECT_EQ(asked_[0].host, "name.invalid");
}

TEST_F(GetNetwork, WrongProxiesAreRefusedBeforeAnythingIsSent) {
  for (const char* const proxy : {"socks4://a", "ftp://a", "socks5://", "socks5://a:0", "a b"}) {
    const Ended ended = run({"get", url("/peer"), "--proxy", proxy});
    EXPECT_EQ(ended.code, 2) << proxy;
    EXPECT_TRUE(contains(ended.errors, "could not use the proxy")) << proxy;
  }
}

}  // namespace
}  // namespace skua::test
