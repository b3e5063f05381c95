// SPDX-License-Identifier: MIT
// Secure connections over real sockets, on every back end that this machine has.
#include "support/connector_fixture.hpp"
#include "support/fault_stream.hpp"

namespace skua::client {
namespace {

class ConnectorTlsTest : public ConnectorTest {
 protected:
  void SetUp() override {
    if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
    ConnectorTest::SetUp();
  }
};
INSTANTIATE_TEST_SUITE_P(Every, ConnectorTlsTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(ConnectorTlsTest, ASilentTlsServerIsGivenUp) {
  use_tls();
  Connecting task = started();
  const Socket peer = accepted();
  char byte = 0;
  turn_until([&] { return bsd::recv(peer.descriptor(), &byte, 1, 0) == 1; });  // ClientHello
  advance(9900ms);
  EXPECT_FALSE(task.is_done());
  advance(200ms);
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().text,
            "could not speak TLS with example.com:" + std::to_string(origin_.port) +
                ": no answer within 10 s (ClientTimeouts::handshake)");
  expect_closed(peer);
}

TEST_P(ConnectorTlsTest, SpeaksTlsAndLosesNothingThatTheServerSaysFirst) {
  client_protocols = {"h2", "http/1.1"};
  server_protocols = {"http/1.1"};
  use_tls();
  Connecting task = started();
  const auto server = accepted_tls();
  server->send("hello");
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.error().text;
  const std::unique_ptr<net::Stream> stream = *std::move(outcome);
  EXPECT_TRUE(stream->is_secure());
  EXPECT_TRUE(stream->is_established());
  EXPECT_EQ(stream->protocol(), "http/1.1");
  EXPECT_EQ(server->stream->engine().server_name(), "example.com");
  settle();
  net::RecordingSink sink;
  stream->listen(sink);
  stream->start_receive();
  net::send_text(*stream, "ping");
  turn_until([&] { return sink.received == "hello|" && server->received == "ping"; });
  stream->close();
  turn_until([&] { return sink.closed == 1; });
  close(*server);
}

TEST_P(ConnectorTlsTest, GoesOnWithTheSessionOfAnEarlierConnection) {
  use_tls();
  for (const bool is_resumed : {false, true, true}) {
    Connecting task = started();
    const auto server = accepted_tls();
    server->send("hello");
    auto outcome = finished(task);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_EQ(server->stream->engine().is_resumed(), is_resumed);
    const std::unique_ptr<net::Stream> stream = *std::move(outcome);
    net::RecordingSink sink;
    stream->listen(sink);
    stream->start_receive();  // also receives the session tickets
    turn_until([&] { return sink.received == "hello|"; });
    stream->close();
    turn_until([&] { return sink.closed == 1; });
    close(*server);
  }
}

TEST_P(ConnectorTlsTest, RefusesACertificateThatNobodyVouchesFor) {
  client_options.authorities = authorities().other_root.certificate;
  use_tls();
  Connecting task = started();
  const auto server = accepted_tls();
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::TlsCertificate);
  EXPECT_TRUE(outcome.error().text.starts_with("could not speak TLS with example.com:"))
      << outcome.error().text;
  turn_until([&] { return server->receive_end.has_value(); });
  close(*server);
}

TEST_P(ConnectorTlsTest, RefusesACertificateForAnotherHost) {
  use_tls();
  origin_.host = "example.org";
  Connecting task = started();
  const auto server = accepted_tls();
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::TlsCertificate);
  EXPECT_NE(outcome.error().text.find("example.org"), std::string::npos);
  close(*server);
}

TEST_P(ConnectorTlsTest, SaysThatAServerHungUpOrSpeaksNoTls) {
  use_tls();
  for (const std::string_view greeting : {"", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    Connecting task = started();
    const Socket peer = accepted();
    bsd::send(peer.descriptor(), greeting.data(), greeting.size(), 0);
    bsd::shutdown(peer.descriptor(), SHUT_WR);
    const auto outcome = finished(task);
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.error().code(), Errc::None);
    const std::string begin =
        "could not speak TLS with example.com:" + std::to_string(origin_.port) + ": ";
    EXPECT_TRUE(outcome.error().text.starts_with(begin)) << outcome.error().text;
    EXPECT_GT(outcome.error().text.size(), begin.size() + 5);
    expect_closed(peer);
  }
}

TEST_P(ConnectorTlsTest, EndsInOrderWhicheverOperationFails) {
  use_tls();
  bool is_connected = false;
  for (std::uint64_t failing = 1; !is_connected && failing < 50; ++failing) {
    net::FaultStream* faulty = nullptr;
    use([&](loop::Loop& loop, const Address& address,
            net::StreamSink& sink) -> Result<std::unique_ptr<net::Stream>> {
      auto stream =
          std::make_unique<net::FaultStream>(*sockets::open_socket(loop, address, sink), failing);
      faulty = stream.get();
      stream->listen(sink);
      return std::unique_ptr<net::Stream>(std::move(stream));
    });
    Connecting task = started();
    const auto server = accepted_tls();
    turn_until([&] {
      if (!task.is_done()) faulty->deliver();
      return task.is_done();
    });
    auto outcome = task.result();
    is_connected = static_cast<bool>(outcome);
    if (is_connected) {
      EXPECT_GT(failing, 3U);  // several operations could fail
      net::close_detached(*std::move(outcome));
    } else {
      EXPECT_EQ(outcome.error().code(), Errc::TlsHandshakeFailed);
    }
    close(*server);
  }
  EXPECT_TRUE(is_connected);
}

TEST_P(ConnectorTlsTest, TlsWantsAContextAndAName) {
  origin_.is_secure = true;
  EXPECT_EQ(problem().error.code(), Errc::Unsupported);
  use_tls();
  for (const std::string& host : {std::string(), std::string("."), std::string(256, 'a')}) {
    origin_.host = host;
    EXPECT_EQ(problem().error.code(), Errc::InvalidHost) << host;
  }
}

}  // namespace
}  // namespace skua::client
