// SPDX-License-Identifier: MIT
// A client behind a proxy, and one with fixed addresses for hosts.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "client_fixture.hpp"
#include "support/scripted_server.hpp"

namespace skua {
namespace {

using Peer = testing::Client;

class ClientProxy : public ::testing::TestWithParam<BackendChoice> {
 protected:
  /// The result of a request through a proxy that runs `talk` on its only connection.
  Result<std::string, Problem> fetch(std::string url, std::string userinfo,
                                     std::function<void(Peer&)> talk) {
    testing::ScriptedServer proxy(std::move(talk));
    options_.proxy.url = "http://" + userinfo + "127.0.0.1:" + std::to_string(proxy.port());
    Result<std::string, Problem> got = Problem();
    testing::run_on(GetParam(), ask(std::move(url), got));
    return got;
  }
  Task<> ask_twice() {
    Client client(options_);
    for (int i = 0; i < 2; ++i) {
      static_cast<void>(co_await client.get("http://example.test/").text());
    }
  }
  ClientOptions options_;

 private:
  Task<> ask(std::string url, Result<std::string, Problem>& got) {
    Client client(options_);
    got = co_await client.get(url).text();
  }
};

constexpr const char* ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_P(ClientProxy, ARequestInClearTextIsMadeByTheProxy) {
  std::string head;
  const auto got = fetch("http://example.test/a?b", "", [&](Peer& peer) {
    head = peer.some();
    peer.send(ok);
  });
  EXPECT_EQ(got.value_or(""), "ok");
  EXPECT_TRUE(head.starts_with("GET http://example.test/a?b HTTP/1.1\r\nHost: example.test\r\n"))
      << head;
  EXPECT_EQ(head.find("Proxy-Authorization"), head.npos);
}

TEST_P(ClientProxy, WhoAsksIsToldToTheProxyOnly) {
  std::string first;
  std::string second;
  const auto got = fetch("http://example.test#top", "u:p@", [&](Peer& peer) {
    first = peer.some();
    peer.send(
        "HTTP/1.1 407 Who?\r\nProxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
        "Content-Length: 0\r\n\r\n");
    second = peer.some();
    peer.send(ok);
  });
  EXPECT_NE(first.find("Proxy-Authorization: Basic dTpw\r\n"), first.npos) << first;
  EXPECT_EQ(first.find("\r\nAuthorization"), first.npos) << first;
  if (!digest_secret(DigestAlgorithm::Md5, "u", "r", "p")) GTEST_SKIP() << "no OpenSSL";
  EXPECT_EQ(got.value_or(""), "ok");
  EXPECT_NE(second.find("Proxy-Authorization: Digest "), second.npos) << second;
  EXPECT_NE(second.find("uri=\"http://example.test/\""), second.npos) << second;
}

TEST_P(ClientProxy, ItsCookiesAreNotTheServers) {
  std::string second;
  {
    testing::ScriptedServer proxy([&](Peer& peer) {
      peer.some();
      peer.send("HTTP/1.1 407 No\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n");
      second = peer.some();
      peer.send(ok);
    });
    options_.proxy.url = "http://127.0.0.1:" + std::to_string(proxy.port());
    testing::run_on(GetParam(), ask_twice());
  }
  EXPECT_TRUE(second.starts_with("GET http://example.test/ ")) << second;
  EXPECT_EQ(second.find("Cookie"), second.npos) << second;
}

TEST_P(ClientProxy, OneThatRefusesATunnelIsToldOf) {
  std::string head;
  const auto got = fetch("https://example.test/", "", [&](Peer& peer) {
    head = peer.some();
    peer.send("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
  });
  ASSERT_FALSE(got);
  if (got.error().code() == Errc::Unsupported) GTEST_SKIP() << "no OpenSSL";
  EXPECT_TRUE(head.starts_with("CONNECT example.test:443 HTTP/1.1\r\n")) << head;
  EXPECT_EQ(got.error().code(), Errc::ProxyRefused) << got.error().text;
  EXPECT_TRUE(got.error().text.starts_with("could not open a tunnel to example.test:443 through"))
      << got.error().text;
}

TEST_P(ClientProxy, ExceptionsGoStraightToWhereTheyAreSaidToBe) {
  Router router;
  router.get("/", [] { return "straight"; });
  testing::TestServer server(router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  options_.proxy.except = "example.test";
  options_.hosts = {{"example.test", 0, "127.0.0.1"}};
  const auto got =
      fetch("http://example.test:" + std::to_string(server.port()) + "/", "", [](Peer&) {});
  EXPECT_EQ(got.value_or("problem"), "straight");
}

TEST_P(ClientProxy, OptionsThatCannotBeAreRefused) {
  const auto make = [](ClientOptions options) -> Task<> {
    EXPECT_THROW(Client client(options), std::invalid_argument);
    co_return;
  };
  ClientOptions socks;
  socks.proxy.url = "socks4://127.0.0.1:1080";
  ClientOptions base;
  base.base_url = "/relative";
  ClientOptions hosts;
  hosts.hosts = {{"example.test", 0, "nowhere"}};
  for (const ClientOptions& wrong : {socks, base, hosts}) {
    testing::run_on(GetParam(), make(wrong));
  }
}

INSTANTIATE_TEST_SUITE_P(All, ClientProxy, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
