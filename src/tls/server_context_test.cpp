// SPDX-License-Identifier: MIT
// Valid server configurations, and the errors for invalid ones.
#include "tls/server_context.hpp"

#include "support/temporary_directory.hpp"
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class Context : public TlsTest {
 protected:
  /// Returns why the current options are refused; empty if they are accepted.
  std::string refusal() {
    const auto context = ServerContext::create(server_options, server_protocols, keys);
    if (context) return {};
    EXPECT_EQ(context.error().code(), Errc::TlsConfiguration);
    return context.error().text;
  }
  std::string file(std::string_view name) { return (folder / name).string(); }
  void expect_refusal(std::initializer_list<std::string_view> parts) {
    const std::string text = refusal();
    for (const std::string_view part : parts) EXPECT_NE(text.find(part), text.npos) << text;
    EXPECT_NE(text, "");
  }

  support::TemporaryDirectory folder;
};

TEST_F(Context, TakesFilesAndTextsAndBothInOneFile) {
  const Issued& server = authorities().server;
  EXPECT_EQ(refusal(), "");
  folder.write("cert.pem", server.certificate);
  folder.write("key.pem", server.private_key);
  folder.write("both.pem", server.private_key + server.certificate);
  server_options.certificate = file("cert.pem");
  EXPECT_EQ(refusal(), "");
  server_options.private_key = file("key.pem");
  EXPECT_EQ(refusal(), "");
  server_options.certificate = file("both.pem");
  server_options.private_key = {};
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(server_context()->fingerprint(), server.fingerprint);
  EXPECT_TRUE(server_options.is_enabled());
  EXPECT_FALSE(TlsOptions{}.is_enabled());
}

TEST_F(Context, SaysWhichFileIsMissingOrUseless) {
  server_options.certificate = file("missing.pem");
  expect_refusal({"the certificate '", "missing.pem'", "No such file", "check the path"});
  folder.write("empty.pem", "");
  server_options.certificate = file("empty.pem");
  expect_refusal({"the certificate '", "empty.pem' is empty"});
  folder.write("der.pem", std::string("\x30\x82\x01\x0a\0\1", 6));
  server_options.certificate = file("der.pem");
  expect_refusal({"der.pem' is not PEM", "openssl x509"});
  folder.make("folder");
  server_options.certificate = file("folder");
  expect_refusal({"folder'", "Is a directory"});
  folder.write("key.pem", authorities().server.private_key);
  server_options.certificate = file("key.pem");
  expect_refusal({"key.pem' has no certificate in it"});
  std::string damaged = authorities().server.certificate;
  damaged.replace(100, 8, "????????");
  folder.write("damaged.pem", damaged);
  server_options.certificate = file("damaged.pem");
  expect_refusal({"damaged.pem' has a damaged certificate"});
  server_options.certificate = {};
  expect_refusal({"no certificate is given"});
}

TEST_F(Context, SaysWhatIsWrongWithAKey) {
  folder.write("cert.pem", authorities().server.certificate);
  server_options.certificate = file("cert.pem");
  server_options.private_key = {};
  expect_refusal({"cert.pem' has no private key in it"});
  folder.write("other.pem", authorities().client.private_key);
  server_options.private_key = file("other.pem");
  expect_refusal({"other.pem' does not belong to the certificate '", "cert.pem'", "come first"});
  server_options.private_key = file("missing.pem");
  expect_refusal({"the private key '", "missing.pem'", "No such file"});
  server_options.private_key =
      "-----BEGIN PRIVATE KEY-----\nbm9uc2Vuc2U=\n-----END PRIVATE KEY-----\n";
  expect_refusal({"the private key (given as text) has a private key that cannot be read"});
}

// A server cannot prompt for a pass phrase.
TEST_F(Context, NeverAsksForAPassPhrase) {
  server_options.private_key =
      "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-128-CBC,000102030405060708090A0B0C0D0E0F\n\n"
      "bm9uc2Vuc2Vub25zZW5zZW5vbnNlbnNlbm9uc2Vuc2Vub25zZW5zZW5vbnNlbnNl\n"
      "-----END EC PRIVATE KEY-----\n";
  expect_refusal({"needs a pass phrase", "openssl pkey"});
}

// CVE-2026-27586: a server that started without the authorities accepted every client.
TEST_F(Context, RefusesToStartWhereClientsCouldNotBeChecked) {
  server_options.client_ca = file("missing.pem");
  expect_refusal({"the client_ca '", "missing.pem'", "No such file"});
  folder.write("empty.pem", "");
  server_options.client_ca = file("empty.pem");
  expect_refusal({"the client_ca '", "empty.pem' is empty"});
  folder.write("key.pem", authorities().server.private_key);
  server_options.client_ca = file("key.pem");
  expect_refusal({"key.pem' has no certificate in it"});
  server_options.client_ca = authorities().root.certificate + "-----BEGIN CERTIFICATE-----\nabc\n";
  expect_refusal({"the client_ca (given as text)", "damaged"});
  server_options.client_ca = {};
  for (const auto wanted : {ClientCertificate::Optional, ClientCertificate::Required}) {
    server_options.client_certificate = wanted;
    expect_refusal({"client_ca names no authority"});
  }
  server_options.client_certificate = ClientCertificate::None;
  EXPECT_EQ(refusal(), "");
  server_options.client_ca = authorities().root.certificate;
  expect_refusal({"client_certificate is None"});
}

TEST_F(Context, WarnsOfCertificatesThatAreNotValid) {
  EXPECT_TRUE(server_context()->warnings().empty());
  const auto warning = [&](const CertificateDetails& details) {
    const Issued issued = made(details);
    folder.write("it.pem", issued.certificate + issued.private_key);
    server_options.certificate = file("it.pem");
    server_options.private_key = {};
    const auto context = server_context();
    return context->warnings().empty() ? std::string() : context->warnings().front();
  };
  EXPECT_NE(warning({.starts_in = -48h, .ends_in = -1h}).find("has expired"), std::string::npos);
  EXPECT_NE(warning({.starts_in = 1h}).find("is not valid yet"), std::string::npos);
  EXPECT_NE(warning({.ends_in = 73h}).find("expires in 3 days"), std::string::npos);
  EXPECT_EQ(warning({.ends_in = 24h * 20}), "");
}

TEST_F(Context, KnowsWhenTheFirstCertificateEnds) {
  const Issued sooner = made({.hosts = {"sooner.example"}, .ends_in = 24h});
  server_options.more_certificates = {{sooner.certificate, sooner.private_key}};
  const std::time_t left = server_context()->ends_at() - std::time(nullptr);
  EXPECT_LE(left, 24 * 60 * 60);
  EXPECT_GT(left, 23 * 60 * 60);
}

TEST_F(Context, MakesACertificateForThisMachine) {
  server_options = {.self_signed = true};
  const auto context = server_context();
  EXPECT_EQ(context->fingerprint().size(), 32U * 3 - 1);
  client_options.insecure = true;
  for (const char* host : {"localhost", "127.0.0.1", "::1"}) {
    TlsPair both(context, client_context()->connect(host));
    both.start();
    EXPECT_TRUE(both.server.stream->engine().covers(host));
    EXPECT_EQ(both.client.stream->engine().peer_certificate().fingerprint, context->fingerprint());
  }
  server_options.certificate = "cert.pem";
  expect_refusal({"mutually exclusive"});
}

TEST_F(Context, MoreHostsOfACertificateMayBeNamed) {
  const auto issued =
      make_self_signed({"machine.local", "192.168.1.7", "fe80::1%eth0", "", "bad\nname"});
  ASSERT_TRUE(issued) << issued.error().text;
  server_options.certificate = (*issued).certificate;
  server_options.private_key = (*issued).private_key;
  client_options.authorities = (*issued).certificate;
  for (const char* host : {"machine.local", "192.168.1.7", "localhost"}) {
    EXPECT_EQ(started(host)->client.established, 1) << host;
  }
  EXPECT_EQ(started("192.168.1.8")->client.end(), Errc::TlsCertificate);
  EXPECT_NE((*issued).fingerprint, (*make_self_signed({})).fingerprint);
}

TEST_F(Context, ClientsSayWhatTheyCannotUse) {
  client_options.authorities = file("missing.pem");
  const auto missing = ClientContext::create(client_options, {});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().text.find("trusted authorities '"), std::string::npos);
  client_options.authorities = {};
  client_options.certificate.certificate = file("missing.pem");
  EXPECT_FALSE(ClientContext::create(client_options, {}));
  client_options.certificate = {.certificate = {}, .private_key = authorities().client.private_key};
  EXPECT_FALSE(ClientContext::create(client_options, {}));
}

TEST(ServerName, IsTheOneNameOfTheExtension) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parse_server_name("\0\7\0\0\4name"sv), "name");
  EXPECT_FALSE(parse_server_name(""sv));
  EXPECT_FALSE(parse_server_name("\0\3\0\0\0"sv));
  EXPECT_FALSE(parse_server_name("\0\6\0\0\4name"sv));
  EXPECT_FALSE(parse_server_name("\0\7\0\0\3name"sv));
  EXPECT_FALSE(parse_server_name("\0\7\0\0\5name"sv));
  EXPECT_FALSE(parse_server_name("\0\7\1\0\4name"sv));
  EXPECT_FALSE(parse_server_name("\0\7\0\0\4na\0e"sv));
}

}  // namespace
}  // namespace skua::tls
