// SPDX-License-Identifier: MIT
// The results and refusals of handshakes over a transport without faults.
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

#define EXPECT_TEXT(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

class Handshake : public TlsVersionsTest {};
INSTANTIATE_TEST_SUITE_P(Versions, Handshake, testing::Values(TlsVersion::Tls12, TlsVersion::Tls13),
                         version_name);

TEST_P(Handshake, TellsBothSidesOnceWhatWasAgreed) {
  client_protocols = {"http/1.1", "h2"};
  const auto both = pair("EXAMPLE.com");
  EXPECT_FALSE(both->server.stream->is_established());
  EXPECT_TRUE(both->server.stream->is_secure());
  both->start();
  for (const TlsPeer* peer : {&both->server, &both->client}) {
    EXPECT_EQ(peer->established, 1);
    EXPECT_FALSE(peer->receive_end);
    EXPECT_EQ(peer->stream->protocol(), "h2");  // the server's preference
    EXPECT_EQ(peer->stream->engine().version(), GetParam());
    EXPECT_FALSE(peer->stream->engine().is_resumed());
    EXPECT_EQ(peer->stream->engine().cipher(),
              is_tls13() ? "TLS_AES_128_GCM_SHA256" : "ECDHE-ECDSA-AES128-GCM-SHA256");
  }
  const Engine& server = both->server.stream->engine();
  EXPECT_EQ(server.server_name(), "example.com");
  EXPECT_TRUE(server.covers("example.com"));
  EXPECT_TRUE(server.covers("10.0.0.1"));
  EXPECT_FALSE(server.covers("other.example"));
  EXPECT_EQ(server.peer_certificate().subject, "");
  const PeerCertificate shown = both->client.stream->engine().peer_certificate();
  EXPECT_EQ(shown.subject, "CN = server");
  EXPECT_EQ(shown.fingerprint, authorities().server.fingerprint);
  EXPECT_TRUE(shown.is_verified);
}

TEST_P(Handshake, NeedsNoProtocolButRefusesWhenThereIsNoneInCommon) {
  const auto without = started();
  EXPECT_EQ(without->server.established, 1);
  EXPECT_EQ(without->server.stream->protocol(), "");
  client_protocols = {"spdy/3", "acme-tls/1"};
  const auto none = started();
  EXPECT_EQ(none->server.established, 0);
  EXPECT_EQ(none->server.end(), Errc::TlsHandshakeFailed);
  EXPECT_EQ(none->client.end(), Errc::TlsHandshakeFailed);
  EXPECT_EQ(none->client.receive_end->context(), "no application protocol");
  server_protocols = {"http/1.1"};
  client_protocols = {"h2", "http/1.1"};
  EXPECT_EQ(started()->client.stream->protocol(), "http/1.1");
}

TEST_P(Handshake, ShowsTheCertificateThatTheClientNames) {
  const Issued& root = authorities().root;
  const Issued exact = made({.common_name = "exact", .hosts = {"www.more.example"}}, &root);
  const Issued wild = made({.common_name = "wild", .hosts = {"*.more.example"}}, &root);
  server_options.more_certificates = {{wild.certificate, wild.private_key},
                                      {exact.certificate, exact.private_key}};
  const auto subject = [&](std::string_view host) {
    const auto both = started(host);
    EXPECT_TRUE(both->server.stream->engine().covers(host)) << host;
    return both->client.stream->engine().peer_certificate().subject;
  };
  EXPECT_EQ(subject("example.com"), "CN = server");
  EXPECT_EQ(subject("10.0.0.1"), "CN = server");
  EXPECT_EQ(subject("www.more.example"), "CN = exact");
  EXPECT_EQ(subject("other.more.example"), "CN = wild");
  const auto unknown = started("a.b.more.example");
  EXPECT_EQ(unknown->client.end(), Errc::TlsCertificate);
  EXPECT_TEXT(unknown->client.stream->engine().error_text(), "CN = server");
}

TEST_P(Handshake, KindsOfKeysDoNotMix) {
  const Issued rsa = made({.common_name = "rsa", .hosts = {"rsa.example"}, .has_rsa_key = true},
                          &authorities().root);
  server_options.more_certificates = {{rsa.certificate, rsa.private_key}};
  for (const char* host : {"rsa.example", "example.com"}) {
    const auto both = started(host);
    EXPECT_EQ(both->client.established, 1) << both->client.stream->engine().error_text();
    EXPECT_TRUE(both->server.stream->engine().covers(host));
  }
}

TEST_P(Handshake, WhatStandsInTheFileOfAuthoritiesIsTrusted) {
  const Issued& middle = authorities().middle;
  const Issued leaf = made({.common_name = "leaf", .hosts = {"example.com"}}, &middle);
  server_options.certificate = leaf.certificate;
  server_options.private_key = leaf.private_key;
  client_options.authorities = middle.certificate;
  EXPECT_EQ(started()->client.established, 1);
}

TEST_P(Handshake, AddressesAreNeverSentAsNames) {
  EXPECT_EQ(started("10.0.0.1")->server.stream->engine().server_name(), "");
}

TEST_P(Handshake, SendsTheWholeChain) {
  const Issued& middle = authorities().middle;
  const Issued leaf = made({.common_name = "leaf", .hosts = {"example.com"}}, &middle);
  server_options.certificate = leaf.certificate + middle.certificate;
  server_options.private_key = leaf.private_key;
  EXPECT_EQ(started()->client.established, 1);
  server_options.certificate = leaf.certificate;
  const auto broken = started();
  EXPECT_EQ(broken->client.established, 0);
  EXPECT_EQ(broken->client.end(), Errc::TlsCertificate);
  const std::string text = broken->client.stream->engine().error_text();
  EXPECT_TEXT(text, "the certificate of example.com was not accepted");
  EXPECT_TEXT(text, "depth 0");
  EXPECT_TEXT(text, "CN = leaf");
  EXPECT_TEXT(text, "CN = Middle' is unknown");
  EXPECT_TEXT(text, "leaves out an intermediate");
  EXPECT_EQ(broken->server.end(), Errc::TlsCertificate);
  EXPECT_EQ(broken->server.receive_end->context(),
            "the peer rejected our certificate: it does not trust the issuer");
}

TEST_P(Handshake, RefusesServersThatCannotProveWhoTheyAre) {
  struct Case {
    CertificateDetails details;
    const Issued* issuer;
    const char* host;
    const char* text;
  };
  const Case cases[] = {
      {{.common_name = "old", .hosts = {"example.com"}, .starts_in = -48h, .ends_in = -1h},
       &authorities().root,
       "example.com",
       "certificate has expired"},
      {{.common_name = "new", .hosts = {"example.com"}, .starts_in = 1h},
       &authorities().root,
       "example.com",
       "not yet valid"},
      {{.common_name = "x", .hosts = {"example.com"}}, nullptr, "example.com", "self-signed"},
      {{.common_name = "x", .hosts = {"example.com"}},
       &authorities().other_root,
       "example.com",
       "unable to get local issuer"},
      {{.common_name = "x", .hosts = {"example.com"}},
       &authorities().root,
       "example.org",
       "mismatch"},
      {{.common_name = "x", .hosts = {"example.com"}},
       &authorities().root,
       "10.0.0.1",
       "IP address mismatch"},
      {{.common_name = "example.com", .hosts = {"other.example"}},
       &authorities().root,
       "example.com",
       "mismatch"},
      {{.common_name = "example.com"}, &authorities().root, "example.com", "mismatch"},
  };
  for (const Case& one : cases) {
    const Issued issued = made(one.details, one.issuer);
    server_options.certificate = issued.certificate;
    server_options.private_key = issued.private_key;
    const auto both = started(one.host);
    EXPECT_EQ(both->client.established, 0);
    EXPECT_EQ(both->client.end(), Errc::TlsCertificate) << one.text;
    const std::string text = both->client.stream->engine().error_text();
    EXPECT_TEXT(text, one.text);
    EXPECT_TEXT(text, "trusted: the given certificates");
    EXPECT_EQ(text.find("insecure"), std::string::npos);
    EXPECT_EQ(both->server.end(), Errc::TlsCertificate) << one.text;
  }
  client_options.insecure = true;
  const auto both = started();
  EXPECT_EQ(both->client.established, 1);
  EXPECT_FALSE(both->client.stream->engine().peer_certificate().is_verified);
}

TEST_P(Handshake, AnUnknownRootIsNoIntermediateThatIsLeftOut) {
  const Issued& middle = authorities().middle;
  const Issued leaf = made({.common_name = "leaf", .hosts = {"example.com"}}, &middle);
  server_options.certificate = leaf.certificate + middle.certificate;
  server_options.private_key = leaf.private_key;
  client_options.authorities = authorities().other_root.certificate;
  const auto both = started();
  EXPECT_EQ(both->client.end(), Errc::TlsCertificate);
  const std::string text = both->client.stream->engine().error_text();
  EXPECT_TEXT(text, "depth 1");
  EXPECT_TEXT(text, "CN = Root' is missing from the trust store");
  EXPECT_EQ(text.find("intermediate"), std::string::npos);
}

TEST_P(Handshake, TheSystemsAuthoritiesDoNotKnowOurs) {
  client_options.authorities = {};
  const auto both = started();
  EXPECT_EQ(both->client.end(), Errc::TlsCertificate);
  EXPECT_TEXT(both->client.stream->engine().error_text(), "ca-certificates");
}

class ClientCertificates : public TlsVersionsTest {
 protected:
  ClientCertificates() {
    if (crypto_is_there()) server_options.client_ca = authorities().root.certificate;
  }
  void show(const Issued& issued) {
    client_options.certificate = {issued.certificate, issued.private_key};
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, ClientCertificates,
                         testing::Values(TlsVersion::Tls12, TlsVersion::Tls13), version_name);

TEST_P(ClientCertificates, AreRequiredWhereThereIsAnAuthority) {
  const auto without = started();
  EXPECT_EQ(without->server.established, 0);
  EXPECT_EQ(without->server.end(), Errc::TlsCertificate);
  EXPECT_EQ(without->server.receive_end->context(), "the client sent no certificate");
  // With TLS 1.3 the client learns of it after its own handshake is done.
  EXPECT_EQ(without->client.established, is_tls13() ? 1 : 0);
  EXPECT_EQ(without->client.end(), is_tls13() ? Errc::TlsCertificate : Errc::TlsHandshakeFailed);
  show(authorities().client);
  const auto both = started();
  EXPECT_EQ(both->server.established, 1);
  const PeerCertificate shown = both->server.stream->engine().peer_certificate();
  EXPECT_EQ(shown.subject, "CN = client");
  EXPECT_EQ(shown.fingerprint, authorities().client.fingerprint);
  EXPECT_TRUE(shown.is_verified);
}

TEST_P(ClientCertificates, AreCheckedEvenWhereTheyAreOptional) {
  server_options.client_certificate = ClientCertificate::Optional;
  const auto without = started();
  EXPECT_EQ(without->server.established, 1);
  EXPECT_FALSE(without->server.stream->engine().peer_certificate().is_verified);
  for (const bool is_optional : {true, false}) {
    server_options.client_certificate =
        is_optional ? ClientCertificate::Optional : ClientCertificate::Required;
    show(made({.common_name = "stranger"}, &authorities().other_root));
    const auto stranger = started();
    EXPECT_EQ(stranger->server.established, 0);
    EXPECT_EQ(stranger->server.end(), Errc::TlsCertificate);
    const std::string text = stranger->server.stream->engine().error_text();
    EXPECT_TEXT(text, "the client's certificate was not accepted");
    EXPECT_TEXT(text, "CN = stranger");
    EXPECT_EQ(stranger->client.end(), Errc::TlsCertificate);
    show(made({.common_name = "late", .starts_in = -48h, .ends_in = -1h}, &authorities().root));
    EXPECT_TEXT(started()->server.stream->engine().error_text(), "expired");
    show(made({.common_name = "own"}));
    EXPECT_TEXT(started()->server.stream->engine().error_text(), "self-signed");
    show(authorities().client);
    EXPECT_TRUE(started()->server.stream->engine().peer_certificate().is_verified);
  }
}

class MinimumVersion : public TlsTest {};

TEST_F(MinimumVersion, IsKeptByBothSides) {
  server_options.minimum_version = TlsVersion::Tls13;
  EXPECT_EQ(started()->server.established, 1);
  client_options.maximum_version = TlsVersion::Tls12;
  const auto both = started();
  EXPECT_EQ(both->server.established, 0);
  EXPECT_EQ(both->server.end(), Errc::TlsHandshakeFailed);
  EXPECT_EQ(both->server.receive_end->context(), "the peer's version of TLS is too old");
  EXPECT_EQ(both->client.receive_end->context(), "protocol version");
}

}  // namespace
}  // namespace skua::tls
