// SPDX-License-Identifier: MIT
// TLS options that name no certificate: a program that sets one of them does not expect that
// everybody is served plain text.
#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "crypto/digest.hpp"
#include "skua.hpp"

namespace skua {
namespace {

struct Silent {
  static void on_readable(TcpConnection& client) { client.consume_all(); }
};

Result<void, Problem> start_with(const TlsOptions& tls) {
  const Router router;
  Server server(router, {.host = "127.0.0.1", .port = 0, .threads = 1, .tls = tls});
  return server.start();
}

Result<void, Problem> listen_with(const TlsOptions& tls) {
  TcpServer<Silent> server({.host = "127.0.0.1", .tls = tls});
  return server.listen();
}

TEST(TlsOptions, GoWithACertificateOnly) {
  const TlsOptions all[] = {
      {.private_key = "key.pem"},
      {.more_certificates = {{.certificate = "more.pem"}}},
      {.client_ca = "ca.pem"},
      {.client_certificate = ClientCertificate::Required},
      {.client_ca = "ca.pem", .client_certificate = ClientCertificate::Required},
      {.minimum_version = TlsVersion::Tls13},
      {.session_tickets = false},
      {.ticket_key_lifetime = 1h},
      {.reload_interval = 1s},
      {.refuses_misdirected_names = true},
  };
  for (const TlsOptions& tls : all) {
    const Result<void, Problem> started = start_with(tls);
    ASSERT_FALSE(started) << &tls - std::begin(all);
    EXPECT_EQ(started.error().code(), Errc::TlsConfiguration);
    EXPECT_NE(started.error().text.find("TlsOptions::certificate"), std::string::npos);
    const Result<void, Problem> listening = listen_with(tls);
    ASSERT_FALSE(listening) << &tls - std::begin(all);
    EXPECT_EQ(listening.error().text, started.error().text);
    EXPECT_FALSE(TlsAcceptor::create(tls)) << &tls - std::begin(all);
  }
  EXPECT_TRUE(start_with({}));
  EXPECT_TRUE(listen_with({}));
}

TEST(TlsOptions, OfACertificateThatIsMadeHaveNoKey) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  EXPECT_FALSE(start_with({.private_key = "key.pem", .self_signed = true}));
  EXPECT_TRUE(start_with({.self_signed = true}));
}

}  // namespace
}  // namespace skua
