// SPDX-License-Identifier: MIT
// TlsStream over sockets, on every back end that this machine supports.

#include "net/socket.hpp"
#include "net/tcp_stream.hpp"
#include "support/backends.hpp"
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class TlsOverTcp : public TlsTest, public ::testing::WithParamInterface<BackendChoice> {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    if (IsSkipped()) return;
    loop_ = loop::Loop::create({.backend = GetParam()}).value();
    listener_ = *net::create_listener(*Address::parse("127.0.0.1:0"));
  }
  void connect() {
    const Address address = net::local_address(listener_.descriptor());
    Socket ours = *net::create_socket(Address::Family::Ipv4);
    bsd::connect(ours.descriptor(), address.data(), address.size_bytes());
    ASSERT_TRUE(listener_.wait_readable(10s));
    Socket accepted(bsd::accept_one(listener_.descriptor()));
    ASSERT_TRUE(accepted);
    server_ = std::make_unique<TlsPeer>(
        *loop_, server_context(),
        std::make_unique<net::TcpStream>(loop_->backend(), std::move(accepted)));
    client_ = std::make_unique<TlsPeer>(
        *loop_, client_context()->connect("example.com"),
        std::make_unique<net::TcpStream>(loop_->backend(), std::move(ours)));
    server_->receive();
    client_->receive();
  }
  /// Runs the loop until `holds` returns true; fails after a minute: emulated processors are slow.
  void turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 1min;
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      loop_->run_once(100ms);
    }
  }
  void close_both() {
    server_->close();
    client_->close();
    turn_until([this] { return server_->closed + client_->closed == 2; });
  }

  std::unique_ptr<loop::Loop> loop_;
  Socket listener_;
  std::unique_ptr<TlsPeer> server_;
  std::unique_ptr<TlsPeer> client_;
};
INSTANTIATE_TEST_SUITE_P(Every, TlsOverTcp, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(TlsOverTcp, CarriesMuchBothWaysAndEndsInOrder) {
  std::string much(6_MiB, '\0');
  for (std::size_t i = 0; i < much.size(); ++i) much[i] = static_cast<char>(i * 7 % 251);
  connect();
  EXPECT_TRUE(server_->stream->peer().is_loopback());
  EXPECT_EQ(server_->stream->local(), net::local_address(listener_.descriptor()));
  client_->send(much);
  client_->finish();
  server_->send(much);
  server_->finish();
  turn_until([this] { return server_->receive_end && client_->receive_end; });
  EXPECT_TRUE(server_->received == much);
  EXPECT_TRUE(client_->received == much);
  EXPECT_EQ(server_->end(), Errc::None);
  EXPECT_EQ(client_->end(), Errc::None);
  close_both();
}

TEST_P(TlsOverTcp, APauseHoldsThePeerUp) {
  const std::string much(8_MiB, 'x');
  connect();
  server_->pauses_after_bytes = 1;
  client_->send(much);
  turn_until([this] { return !server_->received.empty(); });
  for (int i = 0; i < 50; ++i) loop_->run_once(Duration(0));
  EXPECT_LE(server_->received.size(), Engine::record_bytes);
  EXPECT_FALSE(client_->is_all_sent());
  server_->pauses_after_bytes = std::numeric_limits<std::size_t>::max();
  server_->receive();
  turn_until([&] { return server_->received.size() == much.size(); });
  close_both();
}

TEST_P(TlsOverTcp, AFailedHandshakeIsToldToThePeer) {
  client_options.maximum_version = TlsVersion::Tls12;
  server_options.minimum_version = TlsVersion::Tls13;
  connect();
  turn_until([this] { return server_->receive_end && client_->receive_end; });
  EXPECT_EQ(client_->receive_end->context(), "protocol version");
  close_both();
}

TEST_P(TlsOverTcp, AnAbortedPeerIsATruncation) {
  connect();
  client_->send("half of");
  turn_until([this] { return server_->received.size() == 7; });
  // Behind the session tickets: a client that closes before it has read them resets the connection.
  server_->send("go on");
  turn_until([this] { return client_->received.size() == 5; });
  client_->close();
  turn_until([this] { return server_->receive_end.has_value(); });
  EXPECT_EQ(server_->end(), Errc::TlsTruncated);
  close_both();
}

}  // namespace
}  // namespace skua::tls
