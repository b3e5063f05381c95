// SPDX-License-Identifier: MIT
// TLS streams of programs, both sides, on every back end.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/stream.hpp"
#include "skua/tls_stream.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "tls/issue.hpp"

namespace skua {
namespace {

class TlsStreams : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    auto made = TlsAcceptor::create({.self_signed = true}, {"echo"});
    if (!made && made.error().code() == Errc::Unsupported) GTEST_SKIP() << made.error().text;
    acceptor.emplace(std::move(made).value());
    connector.emplace(TlsConnector::create({.insecure = true}, {"echo"}).value());
  }
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  /// Accepts one connection and speaks TLS with it.
  static Task<Result<TlsStream, Problem>> accept(Listener& at, TlsAcceptor acceptor) {
    Result<TcpStream> plain = co_await at.accept();
    auto secured = co_await TlsStream::accept(std::move(acceptor), *std::move(plain));
    co_return secured;
  }
  std::pair<TlsStream, TlsStream> connected() {
    auto ends = run(when_all(TlsStream::connect(*connector, "127.0.0.1", listener.address().port()),
                             accept(listener, *acceptor)));
    return {std::move(std::get<0>(ends)).value(), std::move(std::get<1>(ends)).value()};
  }

  const std::unique_ptr<Loop> loop = Loop::create({.backend = GetParam()}).value();
  Listener listener = Listener::listen(Address::loopback(Address::Family::Ipv4, 0)).value();
  std::optional<TlsAcceptor> acceptor;
  std::optional<TlsConnector> connector;
};

TEST_P(TlsStreams, ExchangeBytesAndAProtocol) {
  auto [here, there] = connected();
  EXPECT_EQ(here.protocol(), "echo");
  EXPECT_EQ(there.protocol(), "echo");
  const std::string content(300'000, 'x');
  std::string received(content.size(), '\0');
  const auto done = run(when_all(here.send(content), there.receive_all(received)));
  EXPECT_TRUE(std::get<0>(done) && std::get<1>(done));
  EXPECT_TRUE(received == content);
  EXPECT_TRUE(run(there.send("back")));
  std::array<char, 4> room;
  EXPECT_TRUE(run(here.receive_all(room)));
}

TEST_P(TlsStreams, AnEndInOrderIsToldFromACutOne) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.shutdown_write()));
  std::array<char, 4> room;
  EXPECT_EQ(run(there.receive(room)).error().code(), Errc::Closed);
  auto [reader, cut] = connected();
  cut.close();
  EXPECT_EQ(run(reader.receive(room)).error().code(), Errc::TlsTruncated);
}

TEST_P(TlsStreams, WantAHostThatCanBeVerified) {
  for (const std::string& host : {std::string(), std::string("."), std::string(256, 'a')}) {
    auto plain = run(TcpStream::connect(listener.address())).value();
    const auto secured = run(TlsStream::connect(*connector, std::move(plain), host));
    ASSERT_FALSE(secured) << host;
    EXPECT_EQ(secured.error().code(), Errc::InvalidHost) << secured.error().text;
    const auto connected = run(TlsStream::connect(*connector, host, listener.address().port()));
    ASSERT_FALSE(connected) << host;
    EXPECT_EQ(connected.error().code(), Errc::InvalidHost) << connected.error().text;
  }
}

TEST_P(TlsStreams, BeginInTheMiddleOfAConnection) {
  const auto client = [](TlsConnector its, Address to) -> Task<Result<TlsStream, Problem>> {
    Result<TcpStream, Problem> plain = co_await TcpStream::connect(to);
    const Result<void> asked = co_await plain->send("STARTTLS\n");
    EXPECT_TRUE(asked);
    const Result<std::string> ready = co_await plain->receive_until("\n");
    EXPECT_EQ(ready.value(), "ready");
    auto secured = co_await TlsStream::connect(std::move(its), *std::move(plain), "server.example");
    co_return secured;
  };
  const auto server = [](Listener& at, TlsAcceptor its) -> Task<Result<TlsStream, Problem>> {
    Result<TcpStream> plain = co_await at.accept();
    const Result<std::string> asked = co_await plain->receive_until("\n");
    EXPECT_EQ(asked.value(), "STARTTLS");
    const Result<void> answered = co_await plain->send("ready\n");
    EXPECT_TRUE(answered);
    auto secured = co_await TlsStream::accept(std::move(its), *std::move(plain));
    co_return secured;
  };
  auto ends = run(when_all(client(*connector, listener.address()), server(listener, *acceptor)));
  ASSERT_TRUE(std::get<0>(ends)) << std::get<0>(ends).error().text;
  ASSERT_TRUE(std::get<1>(ends)) << std::get<1>(ends).error().text;
  EXPECT_TRUE(run(std::get<0>(ends)->send("secret")));
  std::array<char, 6> room;
  EXPECT_TRUE(run(std::get<1>(ends)->receive_all(room)));
}

TEST_P(TlsStreams, ATaskThatReceivesEndsWhenItsConnectionBeginsTls) {
  auto plain_client = run(TcpStream::connect(listener.address())).value();
  auto plain_server = run(listener.accept()).value();
  std::array<char, 6> room;
  Errc ended = Errc::None;
  loop->spawn(plain_server.receive(room),
              [&](const Result<std::size_t>& received) { ended = received.error().code(); });
  auto ends =
      run(when_all(TlsStream::connect(*connector, std::move(plain_client), "server.example"),
                   TlsStream::accept(*acceptor, std::move(plain_server))));
  EXPECT_EQ(ended, Errc::Closed);
  ASSERT_TRUE(std::get<0>(ends)) << std::get<0>(ends).error().text;
  ASSERT_TRUE(std::get<1>(ends)) << std::get<1>(ends).error().text;
  EXPECT_TRUE(run(std::get<0>(ends)->send("secret")));
  EXPECT_TRUE(run(std::get<1>(ends)->receive_all(room)));
}

// The rest of a record waits in the stream, and the next record in its TLS.
TEST_P(TlsStreams, CallbacksGetWhatArrivedBeforeInOrder) {
  auto [here, there] = connected();
  EXPECT_TRUE(run(here.send("one\ntwo\n")));
  EXPECT_TRUE(run(here.send("three\n")));
  EXPECT_EQ(run(there.receive_until("\n")).value(), "one");
  std::string received;
  there.on_receive([&](std::string_view bytes) {
    received += bytes;
    if (received.size() >= 10) loop->stop();
  });
  loop->run();
  EXPECT_EQ(received, "two\nthree\n");
}

// names: tls_stream.accept
// A command that somebody on the way adds before the handshake must not count as encrypted.
TEST_P(TlsStreams, RefuseBytesThatCameBeforeTheHandshake) {
  const auto server = [](Listener& at, TlsAcceptor its) -> Task<Result<TlsStream, Problem>> {
    Result<TcpStream> plain = co_await at.accept();
    const Result<std::string> asked = co_await plain->receive_until("\n");
    EXPECT_EQ(asked.value(), "STARTTLS");
    auto secured = co_await TlsStream::accept(std::move(its), *std::move(plain));
    co_return secured;
  };
  auto client = run(TcpStream::connect(listener.address())).value();
  EXPECT_TRUE(run(client.send("STARTTLS\nMAIL FROM:<attacker>\n")));
  const auto refused = run(server(listener, *acceptor));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::TlsHandshakeFailed);
  EXPECT_EQ(refused.error().text,
            "could not speak TLS with a client: there is data before the handshake");
}

// names: tls_stream.connect
TEST_P(TlsStreams, RefuseACertificateThatNobodyTrusts) {
  const auto careful = TlsConnector::create({}).value();
  auto ends = run(when_all(TlsStream::connect(careful, "127.0.0.1", listener.address().port()),
                           accept(listener, *acceptor)));
  ASSERT_FALSE(std::get<0>(ends));
  const Problem& untrusted = std::get<0>(ends).error();
  EXPECT_EQ(untrusted.code(), Errc::TlsCertificate);
  EXPECT_NE(untrusted.text.find("127.0.0.1"), std::string::npos) << untrusted.text;
  EXPECT_FALSE(std::get<1>(ends));
}

// names: tls_stream.create tls_stream.reload
TEST_P(TlsStreams, NameTheFileThatCannotBeUsed) {
  const std::string gone = "no/such/certificate.pem";
  TlsOptions options;
  options.certificate = options.private_key = gone;
  const auto server = TlsAcceptor::create(options);
  ASSERT_FALSE(server);
  EXPECT_NE(server.error().text.find(gone), std::string::npos) << server.error().text;
  const auto client = TlsConnector::create({.authorities = gone});
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().text.find(gone), std::string::npos) << client.error().text;

  support::TemporaryDirectory folder;
  const tls::Issued issued = tls::issue({.common_name = "a", .hosts = {"localhost"}}).value();
  folder.write("own.pem", issued.certificate + issued.private_key);
  options.certificate = options.private_key = (folder / "own.pem").string();
  auto renewed = TlsAcceptor::create(options).value();
  EXPECT_TRUE(renewed.reload());
  folder.write("own.pem", "nonsense");
  const auto refused = renewed.reload();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text.find("own.pem"), std::string::npos) << refused.error().text;
}

TEST_P(TlsStreams, GiveUpOnASilentPeer) {
  auto client = run(TcpStream::connect(listener.address())).value();
  auto silent = run(listener.accept()).value();
  const auto late = run(TlsStream::accept(*acceptor, std::move(silent), 1ms));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Errc::TimedOut);
}

TEST_P(TlsStreams, RefuseAPeerThatDoesNotSpeakTls) {
  auto client = run(TcpStream::connect(listener.address())).value();
  EXPECT_TRUE(run(client.send("hello, is anybody there?\n")));
  const auto refused = run(accept(listener, *acceptor));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::TlsHandshakeFailed);
}

INSTANTIATE_TEST_SUITE_P(Backends, TlsStreams, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
