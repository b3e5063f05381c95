// SPDX-License-Identifier: MIT
// Session tickets open only where they were issued, and only for their lifetime.
#include <chrono>
#include <thread>

#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class Resumption : public TlsVersionsTest {
 protected:
  /// Returns the session of a first connection with the current options.
  std::string first(std::string_view host = "example.com") {
    client_ = client_context();
    const auto both = over(server_context(), host, {});
    EXPECT_FALSE(both->client.stream->engine().is_resumed());
    return both->client.stream->engine().session();
  }
  /// Reports whether a second connection resumes it; its handshake succeeds in any case.
  bool resumes(const std::string& session, std::string_view host = "example.com") {
    EXPECT_NE(session, "");
    const auto both = over(server_context(), host, session);
    EXPECT_EQ(both->server.established, 1);
    EXPECT_EQ(both->client.established, 1);
    EXPECT_EQ(both->server.stream->engine().is_resumed(),
              both->client.stream->engine().is_resumed());
    last_session_ = both->client.stream->engine().session();
    return both->server.stream->engine().is_resumed();
  }
  std::unique_ptr<TlsPair> over(const std::shared_ptr<const ServerContext>& server,
                                std::string_view host, const std::string& session) {
    auto both = std::make_unique<TlsPair>(server, client_->connect(host, session));
    both->start();
    both->server.send("hello");  // the client reads the tickets with it
    both->run();
    EXPECT_EQ(both->client.received, "hello");
    return both;
  }
  std::shared_ptr<const ClientContext> client_;
  std::string last_session_;
};
INSTANTIATE_TEST_SUITE_P(Versions, Resumption,
                         testing::Values(TlsVersion::Tls12, TlsVersion::Tls13), version_name);

TEST_P(Resumption, WorksAcrossThreadsAndReloadsThatShareKeys) {
  const std::string session = first();
  EXPECT_TRUE(resumes(session));
  EXPECT_TRUE(resumes(last_session_));
}

TEST_P(Resumption, NeedsTheKeys) {
  const std::string session = first();
  keys = std::make_shared<TicketKeys>(12h, clock);
  EXPECT_FALSE(resumes(session));
}

TEST_P(Resumption, KeysRotateAndThePreviousOneOpensStill) {
  const std::string session = first();
  clock.advance(13h);
  EXPECT_TRUE(resumes(session));  // by the previous key
  clock.advance(12h);
  EXPECT_FALSE(resumes(session));
  EXPECT_TRUE(resumes(last_session_));
}

TEST_P(Resumption, IsNotOfferedWhenSwitchedOff) {
  server_options.session_tickets = false;
  EXPECT_EQ(first(), "");
}

// CVE-2014-3616, CVE-2025-23419
TEST_P(Resumption, NeverCrossesCertificates) {
  const Issued more = made({.common_name = "more", .hosts = {"more.example"}}, &authorities().root);
  server_options.more_certificates = {{more.certificate, more.private_key}};
  const std::string session = first("example.com");
  EXPECT_FALSE(resumes(session, "more.example"));
  EXPECT_TRUE(resumes(session, "example.com"));
  const std::string other = first("more.example");
  EXPECT_FALSE(resumes(other, "example.com"));
  EXPECT_TRUE(resumes(other, "more.example"));
}

TEST_P(Resumption, NeverCrossesDemandsOnClients) {
  client_options.certificate = {authorities().client.certificate, authorities().client.private_key};
  const std::string anonymous = first();
  server_options.client_ca = authorities().root.certificate;
  EXPECT_FALSE(resumes(anonymous));
  const std::string required = first();
  EXPECT_TRUE(resumes(required));
  server_options.client_certificate = ClientCertificate::Optional;
  EXPECT_FALSE(resumes(required));
  server_options.client_certificate = ClientCertificate::Auto;
  server_options.client_ca += authorities().other_root.certificate;
  EXPECT_FALSE(resumes(required));
}

TEST_P(Resumption, RemembersWhoTheClientIs) {
  server_options.client_ca = authorities().root.certificate;
  client_options.certificate = {authorities().client.certificate, authorities().client.private_key};
  const std::string session = first();
  const auto both = over(server_context(), "example.com", session);
  EXPECT_TRUE(both->server.stream->engine().is_resumed());
  const PeerCertificate shown = both->server.stream->engine().peer_certificate();
  EXPECT_EQ(shown.subject, "CN = client");
  EXPECT_TRUE(shown.is_verified);
  EXPECT_EQ(both->server.stream->engine().server_name(), "example.com");
  EXPECT_TRUE(both->server.stream->engine().covers("example.com"));
}

TEST_P(Resumption, EndsWithTheCertificateOfTheClient) {
  server_options.client_ca = authorities().root.certificate;
  std::string session;
  auto end = std::chrono::system_clock::now();
  // A slow machine may need longer before it presents the certificate.
  for (Duration life = 2s; session.empty() && life < 1min; life *= 2) {
    const Issued brief = made({.common_name = "brief", .ends_in = life}, &authorities().root);
    end = std::chrono::system_clock::now() +
          std::chrono::duration_cast<std::chrono::system_clock::duration>(life);
    client_options.certificate = {brief.certificate, brief.private_key};
    client_ = client_context();
    TlsPair first(server_context(), client_->connect("example.com", ""));
    first.start();
    first.server.send("hello");
    first.run();
    if (first.server.established == 1) session = first.client.stream->engine().session();
  }
  ASSERT_NE(session, "");
  std::this_thread::sleep_until(end + 1s);  // certificate times are in whole seconds
  TlsPair later(server_context(), client_->connect("example.com", session));
  later.start();
  EXPECT_EQ(later.server.established, 0);
}

TEST_P(Resumption, DamagedTicketsAreNoTickets) {
  std::string session = first();
  bool has_refused = false;
  for (std::size_t at = 0; at < session.size(); at += 7) {
    std::string damaged = session;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    const auto both =
        std::make_unique<TlsPair>(server_context(), client_->connect("example.com", damaged));
    both->start();
    if (both->server.established == 1) has_refused |= !both->server.stream->engine().is_resumed();
  }
  EXPECT_TRUE(has_refused);
}

TEST(TicketKeys, LiveForOneLifetimeAndOpenForTwo) {
  loop::ManualClock clock;
  TicketKeys keys(1h, clock);
  const TicketKey first = keys.sealing().value();
  EXPECT_EQ(keys.sealing().value().name, first.name);
  EXPECT_TRUE(keys.opening(first.name)->is_current);
  EXPECT_EQ(keys.opening(first.name)->key.cipher, first.cipher);
  clock.advance(1h);
  EXPECT_FALSE(keys.opening(first.name)->is_current);
  const TicketKey second = keys.sealing().value();
  EXPECT_NE(second.name, first.name);
  EXPECT_NE(second.cipher, first.cipher);
  EXPECT_TRUE(keys.opening(first.name));
  EXPECT_TRUE(keys.opening(second.name)->is_current);
  clock.advance(1h);
  EXPECT_FALSE(keys.opening(first.name));
  EXPECT_TRUE(keys.opening(second.name));
  clock.advance(24h);
  EXPECT_FALSE(keys.opening(second.name));
}

TEST(TicketKeys, UnknownNamesOpenNothing) {
  loop::ManualClock clock;
  TicketKeys keys(1h, clock);
  const std::array<unsigned char, 16> zeros{};
  EXPECT_FALSE(keys.opening(zeros));
  EXPECT_TRUE(keys.sealing());
  EXPECT_FALSE(keys.opening(zeros));
}

}  // namespace
}  // namespace skua::tls
