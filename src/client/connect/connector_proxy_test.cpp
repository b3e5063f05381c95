// SPDX-License-Identifier: MIT
// Connections through a proxy over real sockets, on every back end that this machine has. The
// test's listener plays the proxy, then the server behind it.
#include "support/connector_fixture.hpp"

namespace skua::client {
namespace {

constexpr std::string_view established = "HTTP/1.1 200 OK\r\n\r\n";

class ConnectorProxyTest : public ConnectorTest {
 protected:
  void SetUp() override {
    ConnectorTest::SetUp();
    if (IsSkipped()) return;
    proxy_.origin = {.host = "127.0.0.1", .port = origin_.port};
    origin_ = {.host = "example.com", .port = 8443};
    listed();
    found_.clear();  // the origin's name is not resolved here
  }
  void listed() { options_.proxy = std::make_shared<ProxyAccess>(proxy_); }
  [[nodiscard]] std::string proxy_name() const { return proxy_.origin.to_string(); }
  /// Reads the head of a request, and not a byte more.
  std::string read_head(const Socket& peer) {
    std::string head;
    turn_until([&] {
      char byte = 0;
      while (!head.ends_with("\r\n\r\n") && bsd::recv(peer.descriptor(), &byte, 1, 0) == 1) {
        head += byte;
      }
      return head.ends_with("\r\n\r\n");
    });
    return head;
  }
  static void say(const Socket& peer, std::string_view text) {
    EXPECT_EQ(bsd::send(peer.descriptor(), text.data(), text.size(), 0),
              static_cast<ssize_t>(text.size()));
  }
  /// Starts a TLS server on a connection.
  std::unique_ptr<tls::TlsPeer> server_on(Socket socket) {
    return server_on(std::make_unique<net::TcpStream>(loop_->backend(), std::move(socket)));
  }
  std::unique_ptr<tls::TlsPeer> server_on(std::unique_ptr<net::Stream> stream) {
    auto peer = std::make_unique<tls::TlsPeer>(*loop_, server_context(), std::move(stream));
    peer->receive();
    return peer;
  }
  /// Exchanges data both ways, then closes the stream.
  void expect_talk(std::unique_ptr<net::Stream> stream, tls::TlsPeer& server) {
    settle();  // sends the last message of the handshake
    net::RecordingSink sink;
    stream->listen(sink);
    stream->start_receive();
    server.send("hello");
    net::send_text(*stream, "ping");
    turn_until([&] { return sink.received == "hello|" && server.received == "ping"; });
    stream->close();
    turn_until([&] { return sink.closed == 1; });
  }
  bool has_tls() {
    if (!crypto_is_there()) return false;
    origin_.is_secure = true;
    options_.tls = client_context();
    return true;
  }

  Proxy proxy_;
};
INSTANTIATE_TEST_SUITE_P(Every, ConnectorProxyTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(ConnectorProxyTest, PlainRequestsGoToTheProxyItself) {
  auto outcome = connected();
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_EQ((*outcome)->peer().port(), proxy_.origin.port);
  expect_echo(*std::move(outcome), accepted());
}

TEST_P(ConnectorProxyTest, PlainTunnelsAreThereForWhoWantsThem) {
  options_.tunnels = true;
  Connecting task = started();
  const Socket peer = accepted();
  EXPECT_EQ(read_head(peer), "CONNECT example.com:8443 HTTP/1.1\r\nHost: example.com:8443\r\n\r\n");
  EXPECT_FALSE(task.is_done());
  say(peer, established);
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  expect_echo(*std::move(outcome), peer);
}

TEST_P(ConnectorProxyTest, TlsGoesThroughTheTunnelToTheOrigin) {
  if (!has_tls()) GTEST_SKIP() << "built without OpenSSL";
  Connecting task = started();
  Socket peer = accepted();
  read_head(peer);
  say(peer, established);
  const auto server = server_on(std::move(peer));
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_TRUE((*outcome)->is_secure());
  EXPECT_EQ(server->stream->engine().server_name(), "example.com");
  expect_talk(*std::move(outcome), *server);
  close(*server);
}

TEST_P(ConnectorProxyTest, ANameThatTlsCannotCheckIsNotTunneledTo) {
  if (!has_tls()) GTEST_SKIP() << "built without OpenSSL";
  origin_.host = std::string(256, 'a');
  const auto outcome = connected();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::InvalidHost);
  EXPECT_TRUE(outcome.error().text.ends_with("the host name is longer than 255 bytes"))
      << outcome.error().text;
}

TEST_P(ConnectorProxyTest, AProxyMaySpeakTlsItself) {
  if (!has_tls()) GTEST_SKIP() << "built without OpenSSL";
  const auto issued =
      made({.common_name = "both", .hosts = {"127.0.0.1", "example.com"}}, &authorities().root);
  server_options.certificate = issued.certificate;
  server_options.private_key = issued.private_key;
  proxy_.origin.is_secure = true;
  listed();
  client_protocols = {"http/1.1"};
  server_protocols = {"http/1.1"};
  options_.proxy_tls = client_context();
  Connecting task = started();
  auto proxy = std::make_unique<tls::TlsPeer>(
      *loop_, server_context(), std::make_unique<net::TcpStream>(loop_->backend(), accepted()));
  proxy->receive();
  turn_until([&] { return proxy->received.ends_with("\r\n\r\n"); });
  EXPECT_TRUE(proxy->received.starts_with("CONNECT example.com:8443 ")) << proxy->received;
  EXPECT_EQ(proxy->stream->protocol(), "http/1.1");
  proxy->send(established);
  proxy->pause();
  settle();
  ASSERT_TRUE(proxy->is_all_sent());
  server_protocols = {};
  const auto server = server_on(std::move(proxy->stream));  // TLS in TLS
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  EXPECT_EQ((*outcome)->protocol(), "");
  EXPECT_EQ(server->stream->engine().server_name(), "example.com");
  expect_talk(*std::move(outcome), *server);
  close(*server);
}

TEST_P(ConnectorProxyTest, AProxyHasToBeTheHostThatItIsCalled) {
  if (!has_tls()) GTEST_SKIP() << "built without OpenSSL";
  proxy_.origin.is_secure = true;  // its certificate is for example.com
  listed();
  EXPECT_EQ(problem().text,
            "could not speak TLS with proxy " + proxy_name() + ": it is not set up");
  options_.proxy_tls = client_context();
  Connecting task = started();
  const auto proxy = accepted_tls();
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::TlsCertificate);
  EXPECT_TRUE(
      outcome.error().text.starts_with("could not speak TLS with proxy " + proxy_name() + ": "))
      << outcome.error().text;
  EXPECT_EQ(proxy->received, "");
  close(*proxy);
}

TEST_P(ConnectorProxyTest, ATunnelIsNoReasonToTrustWhoeverIsBehindIt) {
  if (!has_tls()) GTEST_SKIP() << "built without OpenSSL";
  origin_.host = "example.org";
  Connecting task = started();
  Socket peer = accepted();
  read_head(peer);
  say(peer, established);
  const auto server = server_on(std::move(peer));
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::TlsCertificate);
  EXPECT_TRUE(outcome.error().text.starts_with("could not speak TLS with example.org:8443: "))
      << outcome.error().text;
  close(*server);
}

TEST_P(ConnectorProxyTest, SaysWhichProxyRefusedWhat) {
  options_.tunnels = true;
  Connecting task = started();
  const Socket peer = accepted();
  read_head(peer);
  say(peer, "HTTP/1.1 403 Forbidden\r\n\r\n");
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::ProxyRefused);
  EXPECT_EQ(outcome.error().text, "could not open a tunnel to example.com:8443 through proxy " +
                                      proxy_name() + ": it answered 403 Forbidden");
  expect_closed(peer);
  listener_.close();
  const Problem refused = problem();
  EXPECT_EQ(refused.code(), Errc::Refused);
  EXPECT_EQ(refused.text,
            "could not connect to proxy " + proxy_name() + ": the connection was refused");
}

TEST_P(ConnectorProxyTest, ASilentProxyIsGivenUp) {
  options_.tunnels = true;
  Connecting task = started();
  const Socket peer = accepted();
  read_head(peer);
  advance(29s);
  EXPECT_FALSE(task.is_done());
  advance(1001ms);
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().text, "could not open a tunnel to example.com:8443 through proxy " +
                                      proxy_name() +
                                      ": no answer within 30 s (ClientTimeouts::head)");
  expect_closed(peer);
}

TEST_P(ConnectorProxyTest, ComesAgainWhereTheProxyCloses) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  proxy_.user = "user";
  proxy_.password = "secret";
  listed();
  options_.tunnels = true;
  Connecting task = started();
  {
    const Socket first = accepted();
    EXPECT_NE(read_head(first).find("Proxy-Authorization: Basic "), std::string::npos);
    say(first,
        "HTTP/1.1 407 No\r\nProxy-Authenticate: Digest realm=\"p\", nonce=\"n\", qop=\"auth\"\r\n"
        "Connection: close\r\n\r\n");
    expect_closed(first);
  }
  const Socket second = accepted();
  EXPECT_NE(read_head(second).find("Proxy-Authorization: Digest "), std::string::npos);
  say(second, established);
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  expect_echo(*std::move(outcome), second);
}

TEST_P(ConnectorProxyTest, AUnixSocketNeedsNoProxy) {
  origin_.unix_path = "/nowhere/at/all";
  EXPECT_EQ(problem().code(), Errc::NotFound);
}

TEST_P(ConnectorProxyTest, DroppedAfterAnyTurn) {
  has_tls();
  options_.tunnels = true;
  for (int turns = 0; turns < 12; ++turns) {
    Socket peer;
    {
      const Connecting task = started();
      for (int i = 0; i < turns; ++i) {
        loop_->run_once(1ms);
        if (peer.descriptor() >= 0 || !has_caller()) continue;
        peer = accepted();
        say(peer, established);
      }
    }
    settle();
    if (peer.descriptor() < 0 && has_caller()) peer = accepted();
    if (peer.descriptor() >= 0) expect_closed(peer);
  }
}

}  // namespace
}  // namespace skua::client
