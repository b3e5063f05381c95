// SPDX-License-Identifier: MIT
// Features that only TLS has: handshakes, certificates, ALPN. The other tests run over TLS too, and
// cover everything above it.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "crypto/digest.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/test_worker.hpp"
#include "tls/issue.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::TestServer;
using testing::TestWorker;
using testing::TlsWire;
using testing::Transport;

class Tls : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Tls() {
    router_.get("/",
                [](const Request& request) { return request.is_secure() ? "secure" : "open"; });
    router_.get("/big", [] { return std::string(3'000'000, 'x'); });
  }

  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  }

  tls::Issued write_certificate(std::string_view common_name) {
    auto issued = tls::issue({.common_name = std::string(common_name), .hosts = {"localhost"}});
    EXPECT_TRUE(issued);
    folder_.write("own.pem", issued->certificate + issued->private_key);
    return *std::move(issued);
  }
  static std::string ask(Client& client) {
    client.send(get("/"));
    const auto answer = client.answer();
    return answer ? answer->body : "no answer";
  }
  static std::string fingerprint(const Client& client) {
    return client.tls()->engine().peer_certificate().fingerprint;
  }
  Result<void, Problem> start_with(const TlsOptions& tls) {
    Server server(
        router_, {.host = "127.0.0.1", .port = 0, .threads = 1, .backend = GetParam(), .tls = tls});
    return server.start();
  }

  support::TemporaryDirectory folder_;
  Router router_;
  ServerOptions options_;
};

TEST_P(Tls, ARequestIsSecureWhereItsConnectionIs) {
  TestServer secure(router_, GetParam(), {}, Transport::Tls);
  Client client = secure.connect();
  EXPECT_EQ(ask(client), "secure");
  EXPECT_TRUE(secure->url().starts_with("https://"));
  EXPECT_EQ(fingerprint(client), secure->tls_fingerprint());
  TestServer plain(router_, GetParam(), {}, Transport::Tcp);
  Client open = plain.connect();
  EXPECT_EQ(ask(open), "open");
  EXPECT_TRUE(plain->url().starts_with("http://"));
}

TEST_P(Tls, BothSidesAgreeOnTheProtocol) {
  const TestServer server(router_, GetParam(), {}, Transport::Tls);
  Client old(server.port(), Transport::Tls);
  EXPECT_EQ(ask(old), "secure");
  EXPECT_EQ(old.tls()->engine().protocol(), "http/1.1");
  Client silent(server.port(), std::make_unique<TlsWire>(std::vector<std::string>{}));
  EXPECT_EQ(ask(silent), "secure");
  EXPECT_EQ(silent.tls()->engine().protocol(), "");
  Client alien(server.port(), std::make_unique<TlsWire>(std::vector<std::string>{"spdy/3"}));
  alien.continue_handshake();
  EXPECT_FALSE(alien.tls()->is_established());
  Client modern(server.port(), Transport::H2Tls);
  EXPECT_EQ(ask(modern), "secure");
  EXPECT_EQ(modern.tls()->engine().protocol(), "h2");
}

// Also if the request comes after the end of the handshake.
TEST_P(Tls, ADrainAnswersConnectionsThatAreInTheirHandshake) {
  options_.timeouts.drain_grace = Duration(0);  // idle connections are closed at once
  TestServer server(router_, GetParam(), options_, Transport::Tls);
  TcpSocket slow = TcpSocket::connect_to(*Address::parse("127.0.0.1", server.port()), 10s).value();
  TlsWire wire({"http/1.1"});
  std::string plain;
  const auto exchange = [&] {
    std::array<char, 16'384> room;
    const Result<std::size_t> count = slow.receive(room, 10s);
    EXPECT_TRUE(count) << count.error().message();
    if (count) plain += wire.read({room.data(), *count});
    return count.has_value();
  };
  EXPECT_TRUE(slow.send_all(wire.take_output()));
  while (!wire.is_established() && exchange()) continue;
  Client idle = server.connect();
  EXPECT_EQ(ask(idle), "secure");
  std::thread drainer([&] { server->shutdown(); });
  EXPECT_TRUE(idle.is_closed());
  EXPECT_TRUE(slow.send_all(wire.take_output()));
  exchange();  // the server's session tickets: it has seen the end of the handshake
  wire.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(slow.send_all(wire.take_output()));
  while (plain.find("secure") == plain.npos && exchange()) continue;
  EXPECT_NE(plain.find("Connection: close"), plain.npos) << plain;
  slow.close();
  drainer.join();
}

TEST_P(Tls, Http2IsNotOfferedWhereItIsNotWanted) {
  options_.http2 = false;
  const TestServer server(router_, GetParam(), options_, Transport::Tls);
  const std::vector<std::string> both{"h2", "http/1.1"};
  Client client(server.port(), std::make_unique<TlsWire>(both));
  EXPECT_EQ(ask(client), "secure");
  EXPECT_EQ(client.tls()->engine().protocol(), "http/1.1");
}

// RFC 9113 §3.3: over TLS, HTTP/2 is negotiated by ALPN, not by prior knowledge.
TEST_P(Tls, Http2HasToBeAgreedOn) {
  const TestServer server(router_, GetParam(), {}, Transport::Tls);
  Client client(server.port(), Transport::Tls);
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 505);
}

TEST_P(Tls, AHandshakeThatNeverFinishesIsCut) {
  TestWorker worker(router_, GetParam(), {}, Transport::Tls);
  Client silent = worker.connect(Transport::Tcp);
  Client half = worker.connect(Transport::Tcp);
  TlsWire wire({"http/1.1"});
  half.send(wire.take_output());
  worker.turn_until_readable(half);  // the server waits for the client's second flight
  worker.settle();
  half.take_received();
  worker.advance(9s);
  EXPECT_FALSE(worker.is_readable(silent));
  EXPECT_FALSE(worker.is_readable(half));
  worker.advance(2s);
  worker.turn_until_readable(silent);
  worker.turn_until_readable(half);
  EXPECT_TRUE(silent.is_closed());
  EXPECT_TRUE(half.is_closed());
  EXPECT_EQ(worker.counters().refused_slow, 2U);
}

TEST_P(Tls, TheTimeOfAHandshakeIsNotThatOfTheHead) {
  options_.timeouts.head = 30s;
  TestWorker worker(router_, GetParam(), options_, Transport::Tls);
  Client client = worker.connect();
  worker.advance(29s);
  EXPECT_FALSE(worker.is_readable(client));
  EXPECT_EQ(worker.ask(client, get("/"))->body, "secure");
}

TEST_P(Tls, PlainHttpIsToldWhatIsWrong) {
  const TestServer server(router_, GetParam(), {}, Transport::Tls);
  Client client(server.port(), Transport::Tcp);
  client.send(get("/"));
  const auto answer = client.answer();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 400);
  EXPECT_NE(answer->body.find("this port is for HTTPS"), answer->body.npos) << answer->body;
  EXPECT_TRUE(client.is_closed());
  EXPECT_FALSE(client.was_reset());
  EXPECT_EQ(ask(client), "no answer");
}

TEST_P(Tls, WhatIsNoTlsEndsTheConnection) {
  const TestServer server(router_, GetParam(), {}, Transport::Tls);
  Client client(server.port(), Transport::Tcp);
  client.send(std::string(100, '\xff'));
  client.rest();
  Client other(server.port(), Transport::Tls);
  EXPECT_EQ(ask(other), "secure");
}

// names: server.reload_tls
TEST_P(Tls, CertificatesAreReadAgainWhileConnectionsAreOpen) {
  const tls::Issued first = write_certificate("first");
  options_.tls.certificate = folder_ / "own.pem";
  TestServer server(router_, GetParam(), options_, Transport::Tls);
  Client before = server.connect();
  EXPECT_EQ(ask(before), "secure");
  before.send(get("/big"));
  const tls::Issued second = write_certificate("second");
  ASSERT_TRUE(server->reload_tls());
  EXPECT_EQ(before.answer()->body.size(), 3'000'000U);
  EXPECT_EQ(ask(before), "secure");
  EXPECT_EQ(fingerprint(before), first.fingerprint);
  Client after = server.connect();
  EXPECT_EQ(ask(after), "secure");
  EXPECT_EQ(fingerprint(after), second.fingerprint);

  folder_.write("own.pem", "nonsense");
  const Result<void, Problem> refused = server->reload_tls();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Errc::TlsConfiguration);
  EXPECT_NE(refused.error().text.find("own.pem"), std::string::npos) << refused.error().text;
  Client still = server.connect();
  EXPECT_EQ(ask(still), "secure");
  EXPECT_EQ(server->tls_fingerprint(), second.fingerprint);
}

TEST_P(Tls, WhereNoneIsSpokenNothingIsReadAgain) {
  TestServer server(router_, GetParam(), {}, Transport::Tcp);
  const Result<void, Problem> reloaded = server->reload_tls();
  ASSERT_FALSE(reloaded);
  EXPECT_EQ(reloaded.error().code(), Errc::Unsupported);
  EXPECT_EQ(server->tls_fingerprint(), "");
}

TEST_P(Tls, ABadCertificateIsNamedAtTheStart) {
  const tls::Issued issued = write_certificate("own");
  const tls::Issued other = *tls::issue({.common_name = "other"});
  folder_.write("nonsense.pem", "nonsense");
  folder_.write("certificate.pem", issued.certificate);
  folder_.write("other-key.pem", other.private_key);
  const auto expect_refused = [this](const TlsOptions& tls, std::string_view culprit) {
    const Result<void, Problem> started = start_with(tls);
    ASSERT_FALSE(started) << culprit;
    EXPECT_EQ(started.error().code(), Errc::TlsConfiguration) << culprit;
    const std::string message(started.error().message());
    EXPECT_NE(message.find(culprit), message.npos) << message;
  };
  const std::string whole = folder_ / "own.pem";
  expect_refused({.certificate = folder_ / "missing.pem"}, "missing.pem");
  expect_refused({.certificate = folder_ / "nonsense.pem"}, "nonsense.pem");
  expect_refused({.certificate = folder_ / "certificate.pem"}, "certificate.pem");
  expect_refused(
      {.certificate = folder_ / "certificate.pem", .private_key = folder_ / "other-key.pem"},
      "other-key.pem");
  expect_refused({.certificate = whole, .client_ca = folder_ / "no-ca.pem"}, "no-ca.pem");
  EXPECT_TRUE(start_with({.certificate = whole}));
}

TEST_P(Tls, ClientsHaveToShowACertificateWhereItIsRequired) {
  const tls::Issued root = *tls::issue({.common_name = "Root", .is_authority = true});
  const tls::Issued known = *tls::issue({.common_name = "known"}, &root);
  const tls::Issued unknown = *tls::issue({.common_name = "unknown"});
  options_.tls.self_signed = true;
  options_.tls.client_ca = root.certificate;
  const TestServer server(router_, GetParam(), options_, Transport::Tls);
  const auto try_with = [&](const TlsCertificate& certificate) {
    const std::vector<std::string> protocols{"http/1.1"};
    Client client(server.port(), std::make_unique<TlsWire>(protocols, certificate));
    return ask(client);
  };
  EXPECT_EQ(try_with({.certificate = known.certificate, .private_key = known.private_key}),
            "secure");
  EXPECT_EQ(try_with({.certificate = unknown.certificate, .private_key = unknown.private_key}),
            "no answer");
  EXPECT_EQ(try_with({}), "no answer");
}

TEST_P(Tls, HandlersLearnWhoseCertificateItIs) {
  const tls::Issued root = *tls::issue({.common_name = "Root", .is_authority = true});
  const tls::Issued known = *tls::issue({.common_name = "known"}, &root);
  options_.tls.self_signed = true;
  options_.tls.client_ca = root.certificate;
  options_.tls.client_certificate = ClientCertificate::Optional;
  Router router;
  router.get("/", [](const Request& request) {
    const TlsInfo& info = *request.connection().tls();
    EXPECT_EQ(info.version, TlsVersion::Tls13);
    EXPECT_EQ(info.client_fingerprint.empty(), info.client_subject.empty());
    return info.client_subject + (info.is_client_verified ? ", verified" : ", unknown");
  });
  const TestServer server(router, GetParam(), options_, Transport::Tls);
  const auto subject = [&](const TlsCertificate& certificate) {
    const std::vector<std::string> protocols{"http/1.1"};
    Client client(server.port(), std::make_unique<TlsWire>(protocols, certificate));
    return ask(client);
  };
  EXPECT_EQ(subject({.certificate = known.certificate, .private_key = known.private_key}),
            "CN = known, verified");
  EXPECT_EQ(subject({}), ", unknown");
}

INSTANTIATE_TEST_SUITE_P(Backends, Tls, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
