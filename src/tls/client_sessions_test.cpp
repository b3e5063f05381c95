// SPDX-License-Identifier: MIT
// A client's second connection resumes the session of the first with the same server, and with no
// other.
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class ClientSessions : public TlsVersionsTest {
 protected:
  /// Reports whether a new connection resumes an earlier one.
  bool resumes(const ClientContext& client, std::string_view host = "example.com",
               std::uint16_t port = 443) {
    TlsPair both(server_, client.connect(host, port));
    both.start();
    both.server.send("hello");  // the client reads the tickets with it
    both.run();
    EXPECT_EQ(both.client.received, "hello");
    const Engine& engine = both.client.stream->engine();
    EXPECT_EQ(both.server.stream->engine().is_resumed(), engine.is_resumed());
    EXPECT_EQ(engine.peer_certificate().is_verified, !client_options.insecure);
    return engine.is_resumed();
  }
  std::shared_ptr<const ServerContext> server_ = crypto_is_there() ? server_context() : nullptr;
};
INSTANTIATE_TEST_SUITE_P(Versions, ClientSessions,
                         testing::Values(TlsVersion::Tls12, TlsVersion::Tls13), version_name);

TEST_P(ClientSessions, GoOnAgainAndAgain) {
  const auto client = client_context();
  EXPECT_FALSE(resumes(*client));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(resumes(*client)) << i;
  EXPECT_TRUE(resumes(*client, "EXAMPLE.com."));
}

TEST_P(ClientSessions, AreOfOneHostAndPort) {
  const auto client = client_context();
  EXPECT_FALSE(resumes(*client));
  EXPECT_FALSE(resumes(*client, "example.com", 8443));
  EXPECT_FALSE(resumes(*client, "10.0.0.1"));
  EXPECT_TRUE(resumes(*client, "10.0.0.1"));
  EXPECT_TRUE(resumes(*client, "example.com", 8443));
}

// A session from an insecure client would let a secure one skip certificate verification.
TEST_P(ClientSessions, NeverCrossContexts) {
  const auto careful = client_context();
  EXPECT_FALSE(resumes(*careful));
  client_options.insecure = true;
  const auto insecure = client_context();
  EXPECT_FALSE(resumes(*insecure));
  EXPECT_TRUE(resumes(*insecure));
  client_options.insecure = false;
  EXPECT_FALSE(resumes(*client_context()));
}

TEST_P(ClientSessions, AreNotLeftByAServerThatWasRefused) {
  client_options.authorities = authorities().other_root.certificate;
  const auto client = client_context();
  for (int i = 0; i < 2; ++i) {
    TlsPair both(server_, client->connect("example.com", std::uint16_t{443}));
    both.start();
    EXPECT_EQ(both.client.end(), Errc::TlsCertificate);
    EXPECT_FALSE(both.client.stream->engine().is_resumed());
  }
}

TEST_P(ClientSessions, AServerThatForgotThemShakesHandsInFull) {
  const auto client = client_context();
  EXPECT_FALSE(resumes(*client));
  keys = std::make_shared<TicketKeys>(12h, clock);
  server_ = server_context();
  EXPECT_FALSE(resumes(*client));
  EXPECT_TRUE(resumes(*client));
}

TEST_P(ClientSessions, AreNotThereWhereTheServerGivesNone) {
  server_options.session_tickets = false;
  server_ = server_context();
  const auto client = client_context();
  EXPECT_FALSE(resumes(*client));
  EXPECT_FALSE(resumes(*client));
}

// RFC 8446 §C.4: a ticket used twice lets an observer link both connections to one client.
TEST_P(ClientSessions, ATicketOfTls13IsUsedOnce) {
  const auto client = client_context();
  EXPECT_FALSE(resumes(*client));
  int resumed = 0;
  for (int i = 0; i < 6; ++i) {
    TlsPair both(server_, client->connect("example.com", std::uint16_t{443}));
    both.client.pauses_after_bytes = 0;
    both.client.receive();
    both.server.receive();
    both.client.pause();  // shakes hands, but reads no ticket
    both.run();
    EXPECT_EQ(both.client.established, 1);
    resumed += both.client.stream->engine().is_resumed() ? 1 : 0;
  }
  if (is_tls13()) {
    EXPECT_GT(resumed, 0);
    EXPECT_LE(resumed, static_cast<int>(2));
  } else {
    EXPECT_EQ(resumed, 6);
  }
}

}  // namespace
}  // namespace skua::tls
