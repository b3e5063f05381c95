// SPDX-License-Identifier: MIT
// Connections over real sockets, on every back end that this machine has.
#include "client/connector.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <filesystem>
#include <future>

#include "loop/worker_pool.hpp"
#include "net/close_detached.hpp"
#include "net/memory_stream.hpp"
#include "net/tcp_stream.hpp"
#include "support/recording_sink.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_pair.hpp"

namespace skua::client {
namespace {

using loop::BackendKind;

class ConnectorTest : public tls::TlsTest, public testing::WithParamInterface<BackendKind> {
 protected:
  using Connecting = Task<Outcome<std::unique_ptr<net::Stream>>>;

  void SetUp() override {
    auto made = loop::Loop::create({.backend = GetParam(), .clock = &clock});
    if (!made) GTEST_SKIP() << made.error().message();
    loop_ = *std::move(made);
    loop_->use_pool(&pool_);
    listen(*net::Address::parse("127.0.0.1:0"));
    ResolverOptions resolving;
    resolving.look_up = [this](const std::string&) -> Result<Addresses> {
      gate_.wait();
      return found_;
    };
    resolver_ = std::make_unique<Resolver>(*loop_, resolving);
    use(open_socket);
    origin_.host = "example.com";
    origin_.port = net::local_address(listener_.descriptor()).port();
    found_ = {*net::Address::parse("127.0.0.1", 0)};
    opens_.set_value();
    gate_ = opens_.get_future().share();
  }
  void listen(const net::Address& address) { listener_ = *net::create_listener(address); }
  void use(OpenStream open) {
    connector_ = std::make_unique<Connector>(*loop_, *resolver_, std::move(open));
  }
  void use_tls() {
    origin_.is_secure = true;
    options_.tls = client_context();
  }
  /// Never comes to anything, for addresses other than 127.0.0.1.
  OpenStream hanging() {
    return [this](loop::Loop& loop, const net::Address& address,
                  net::StreamSink& sink) -> Result<std::unique_ptr<net::Stream>> {
      if (address == net::local_address(listener_.descriptor())) {
        return open_socket(loop, address, sink);
      }
      auto stream = std::make_unique<net::MemoryStream>();
      hanging_ = stream.get();
      stream->listen(sink);
      return std::unique_ptr<net::Stream>(std::move(stream));
    };
  }

  Connecting started() {
    Connecting task = connector_->connect(origin_, options_);
    loop_->post([&task] { task.start(nullptr, nullptr); });
    loop_->run_once(Duration(0));
    return task;
  }
  void settle() {
    for (int i = 0; i < 6; ++i) loop_->run_once(Duration(0));
  }
  void advance(Duration by) {
    clock.advance(by);
    settle();
  }
  void turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      loop_->run_once(10ms);
    }
  }
  Outcome<std::unique_ptr<net::Stream>> finished(Connecting& task) {
    turn_until([&] { return task.is_done(); });
    return task.result();
  }
  Outcome<std::unique_ptr<net::Stream>> connected() {
    Connecting task = started();
    return finished(task);
  }
  [[nodiscard]] Problem problem() {
    const auto outcome = connected();
    return outcome ? Problem() : outcome.problem();
  }
  bool has_caller() {
    pollfd waiting{listener_.descriptor(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }
  /// The server's end of the next connection.
  net::Socket accepted() {
    turn_until([this] { return has_caller(); });
    return net::Socket(
        ::accept4(listener_.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  }
  std::unique_ptr<tls::TlsPeer> accepted_tls() {
    auto peer = std::make_unique<tls::TlsPeer>(
        *loop_, server_context()->accept(),
        std::make_unique<net::TcpStream>(loop_->backend(), accepted()));
    peer->receive();
    return peer;
  }
  void close(tls::TlsPeer& peer) {
    peer.close();
    turn_until([&] { return peer.closed == 1; });
  }
  /// Turns until the client has closed this connection.
  void expect_closed(const net::Socket& peer) {
    turn_until([&] {
      char bytes[4096];
      const ssize_t count = ::recv(peer.descriptor(), bytes, sizeof bytes, 0);
      return count == 0 || (count < 0 && errno == ECONNRESET);
    });
  }
  void expect_echo(net::Stream& stream, const net::Socket& peer) {
    net::RecordingSink sink;
    stream.listen(sink);
    net::send_text(stream, "ping");
    EXPECT_EQ(::send(peer.descriptor(), "pong", 4, 0), 4);
    stream.start_receive();
    turn_until([&] { return sink.received.size() == 5; });
    EXPECT_EQ(sink.received, "pong|");
    char bytes[5] = {};
    turn_until([&] { return ::recv(peer.descriptor(), bytes, 4, 0) == 4; });
    EXPECT_STREQ(bytes, "ping");
    stream.close();
    turn_until([&] { return sink.closed == 1; });
  }

  std::unique_ptr<loop::Loop> loop_;
  std::promise<void> opens_;
  std::shared_future<void> gate_;
  Addresses found_;
  loop::WorkerPool pool_{2, 8};
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Connector> connector_;
  net::Socket listener_;
  net::MemoryStream* hanging_ = nullptr;
  Origin origin_;
  ConnectOptions options_;
};

std::string backend_name(const testing::TestParamInfo<BackendKind>& kind) {
  if (kind.param == BackendKind::Epoll) return "Epoll";
  return kind.param == BackendKind::IoUring ? "IoUring" : "Poll";
}
INSTANTIATE_TEST_SUITE_P(Every, ConnectorTest,
                         testing::Values(BackendKind::Epoll, BackendKind::IoUring,
                                         BackendKind::Poll),
                         backend_name);

TEST(Origin, SaysWhereItIs) {
  EXPECT_EQ((Origin{.host = "example.com", .port = 443}).to_string(), "example.com:443");
  EXPECT_EQ((Origin{.host = "::1", .port = 80}).to_string(), "[::1]:80");
  EXPECT_EQ((Origin{.host = "[::1]", .port = 80}).to_string(), "[::1]:80");
  EXPECT_EQ((Origin{.host = "x", .unix_path = "/run/x"}).to_string(), "unix:/run/x");
}

TEST_P(ConnectorTest, ConnectsByNameAndByNumber) {
  for (const char* const host : {"example.com", "127.0.0.1", "localhost"}) {
    origin_.host = host;
    auto outcome = connected();
    ASSERT_TRUE(outcome) << outcome.problem().text;
    EXPECT_FALSE((*outcome)->is_secure());
    EXPECT_EQ((*outcome)->peer().port(), origin_.port);
    expect_echo(**outcome, accepted());
  }
}

TEST_P(ConnectorTest, SaysThatItWasRefused) {
  listener_.reset();
  const Problem refused = problem();
  EXPECT_EQ(refused.error.code(), Errc::Refused);
  EXPECT_EQ(refused.text, "could not connect to example.com:" + std::to_string(origin_.port) +
                              ": the connection was refused");
}

TEST_P(ConnectorTest, FindsTheOnlyAddressThatAnswers) {
  // Nobody listens at the others.
  found_ = {*net::Address::parse("127.0.0.2", 0), *net::Address::parse("127.0.0.3", 0),
            *net::Address::parse("127.0.0.1", 0)};
  auto outcome = connected();
  ASSERT_TRUE(outcome) << outcome.problem().text;
  expect_echo(**outcome, accepted());
}

TEST_P(ConnectorTest, ASlowAddressLosesToTheNext) {
  found_ = {*net::Address::parse("192.0.2.1", 0), *net::Address::parse("127.0.0.1", 0)};
  use(hanging());
  Connecting task = started();
  turn_until([this] { return hanging_ != nullptr; });
  EXPECT_FALSE(task.is_done());
  advance(260ms);
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.problem().text;
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
  expect_echo(**outcome, accepted());
}

TEST_P(ConnectorTest, EveryPhaseHasItsLimit) {
  std::promise<void> gate;
  gate_ = gate.get_future().share();
  Connecting resolving = started();
  advance(5100ms);
  ASSERT_TRUE(resolving.is_done());
  const auto no_name = resolving.result();
  ASSERT_FALSE(no_name);
  EXPECT_EQ(no_name.problem().text, "could not resolve example.com: no answer within 5 s");
  gate.set_value();

  use(hanging());
  origin_.host = "192.0.2.1";
  Connecting connecting = started();
  turn_until([this] { return hanging_ != nullptr; });
  advance(10'100ms);
  ASSERT_TRUE(connecting.is_done());
  const auto no_connection = connecting.result();
  ASSERT_FALSE(no_connection);
  EXPECT_EQ(no_connection.problem().error.code(), Errc::TimedOut);
  EXPECT_EQ(
      no_connection.problem().text,
      "could not connect to 192.0.2.1:" + std::to_string(origin_.port) + ": no answer within 10 s");
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
}

TEST_P(ConnectorTest, ASilentTlsServerIsGivenUp) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  use_tls();
  Connecting task = started();
  const net::Socket peer = accepted();
  char byte = 0;
  turn_until([&] { return ::recv(peer.descriptor(), &byte, 1, 0) == 1; });  // it shakes hands
  advance(9900ms);
  EXPECT_FALSE(task.is_done());
  advance(200ms);
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.problem().text, "could not speak TLS with example.com:" +
                                        std::to_string(origin_.port) + ": no answer within 10 s");
  expect_closed(peer);
}

TEST_P(ConnectorTest, SpeaksTlsAndLosesNothingThatTheServerSaysFirst) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  client_protocols = {"h2", "http/1.1"};
  server_protocols = {"http/1.1"};
  use_tls();
  Connecting task = started();
  const auto server = accepted_tls();
  server->send("hello");
  auto outcome = finished(task);
  ASSERT_TRUE(outcome) << outcome.problem().text;
  net::Stream& stream = **outcome;
  EXPECT_TRUE(stream.is_secure());
  EXPECT_TRUE(stream.is_established());
  EXPECT_EQ(stream.protocol(), "http/1.1");
  EXPECT_EQ(server->stream->engine().server_name(), "example.com");
  settle();
  net::RecordingSink sink;
  stream.listen(sink);
  stream.start_receive();
  net::send_text(stream, "ping");
  turn_until([&] { return sink.received == "hello|" && server->received == "ping"; });
  stream.close();
  turn_until([&] { return sink.closed == 1; });
  close(*server);
}

TEST_P(ConnectorTest, RefusesACertificateThatNobodyVouchesFor) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  client_options.authorities = authorities().other_root.certificate;
  use_tls();
  Connecting task = started();
  const auto server = accepted_tls();
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.problem().error.code(), Errc::TlsCertificate);
  EXPECT_TRUE(outcome.problem().text.starts_with("could not speak TLS with example.com:"))
      << outcome.problem().text;
  turn_until([&] { return server->receive_end.has_value(); });
  close(*server);
}

TEST_P(ConnectorTest, RefusesACertificateForAnotherHost) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  use_tls();
  origin_.host = "example.org";
  Connecting task = started();
  const auto server = accepted_tls();
  const auto outcome = finished(task);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.problem().error.code(), Errc::TlsCertificate);
  EXPECT_NE(outcome.problem().text.find("example.org"), std::string::npos);
  close(*server);
}

TEST_P(ConnectorTest, SaysThatAServerHungUpOrSpeaksNoTls) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  use_tls();
  for (const std::string_view greeting : {"", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    Connecting task = started();
    const net::Socket peer = accepted();
    ::send(peer.descriptor(), greeting.data(), greeting.size(), 0);
    ::shutdown(peer.descriptor(), SHUT_WR);
    const auto outcome = finished(task);
    ASSERT_FALSE(outcome);
    EXPECT_NE(outcome.problem().error.code(), Errc::None);
    const std::string begin =
        "could not speak TLS with example.com:" + std::to_string(origin_.port) + ": ";
    EXPECT_TRUE(outcome.problem().text.starts_with(begin)) << outcome.problem().text;
    EXPECT_GT(outcome.problem().text.size(), begin.size() + 5);
    expect_closed(peer);
  }
}

TEST_P(ConnectorTest, EndsInOrderWhicheverOperationFails) {
  if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  use_tls();
  bool is_connected = false;
  for (std::uint64_t failing = 1; !is_connected && failing < 50; ++failing) {
    net::FaultStream* faulty = nullptr;
    use([&](loop::Loop& loop, const net::Address& address,
            net::StreamSink& sink) -> Result<std::unique_ptr<net::Stream>> {
      auto stream = std::make_unique<net::FaultStream>(*open_socket(loop, address, sink), failing);
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
      EXPECT_GT(failing, 3U);  // there were some that could fail
      net::close_detached(*std::move(outcome));
    } else {
      EXPECT_EQ(outcome.problem().error.code(), Errc::Reset);
    }
    close(*server);
  }
  EXPECT_TRUE(is_connected);
}

TEST_P(ConnectorTest, TlsWantsAContextAndAName) {
  origin_.is_secure = true;
  EXPECT_EQ(problem().error.code(), Errc::Unsupported);
  if (!crypto_is_there()) return;
  use_tls();
  origin_.host.clear();
  EXPECT_EQ(problem().error.code(), Errc::InvalidHost);
}

TEST_P(ConnectorTest, ConnectsToAUnixSocket) {
  const support::TemporaryDirectory folder;
  origin_.unix_path = (folder.path() / "socket").string();
  EXPECT_EQ(problem().error.code(), Errc::NotFound);
  listen(*net::Address::unix_path(origin_.unix_path));
  auto outcome = connected();
  ASSERT_TRUE(outcome) << outcome.problem().text;
  expect_echo(**outcome, accepted());
  origin_.unix_path.assign(200, 'x');
  EXPECT_EQ(problem().error.code(), Errc::InvalidAddress);
}

TEST_P(ConnectorTest, DroppedWhileItResolves) {
  std::promise<void> gate;
  gate_ = gate.get_future().share();
  {
    const Connecting task = started();
  }
  gate.set_value();
  settle();
}

TEST_P(ConnectorTest, DroppedWhileItConnectsItClosesAllAttempts) {
  use(hanging());
  origin_.host = "192.0.2.1";
  {
    const Connecting task = started();
    turn_until([this] { return hanging_ != nullptr; });
    EXPECT_FALSE(hanging_->is_closed());
  }
  EXPECT_TRUE(hanging_->is_closed());
  hanging_->pump();
}

// However far it has come, nothing is left of it, and a server that it has reached sees its end.
TEST_P(ConnectorTest, DroppedAfterAnyTurn) {
  if (crypto_is_there()) use_tls();
  origin_.host = "127.0.0.1";
  for (int turns = 0; turns < 12; ++turns) {
    {
      Connecting task = started();
      for (int i = 0; i < turns && !task.is_done(); ++i) loop_->run_once(10ms);
      if (task.is_done()) {
        auto outcome = task.result();
        ASSERT_TRUE(outcome) << outcome.problem().text;
        net::close_detached(*std::move(outcome));
      }
    }
    settle();
    if (has_caller()) expect_closed(accepted());
  }
}

}  // namespace
}  // namespace skua::client
