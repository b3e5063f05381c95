// SPDX-License-Identifier: MIT
// `skua serve` over HTTPS: loaded, generated, invalid and replaced certificates, and plain HTTP
// redirects.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process.hpp"
#include "crypto/digest.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_connection.hpp"
#include "tls/issue.hpp"

namespace skua::test {
namespace {

using testing::TlsConnection;

tls::Issued made(const tls::CertificateDetails& details, const tls::Issued* issuer = nullptr) {
  auto issued = tls::issue(details, issuer);
  if (!issued) throw std::runtime_error(issued.error().text);
  return *std::move(issued);
}

class HttpsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tls::issue({.common_name = "x"})) GTEST_SKIP() << "built without OpenSSL";
    root_ = made({.common_name = "Root", .is_authority = true});
    trusting_.authorities = root_.certificate;
    files_.write("site/index.html", "<h1>home</h1>");
    write_certificate();
    files_.write("other.pem", made({.common_name = "other"}).private_key);
    files_.write("root.pem", root_.certificate);
  }
  // Writes a new certificate on each call.
  void write_certificate() {
    const tls::Issued own = made({.common_name = "server", .hosts = {"127.0.0.1"}}, &root_);
    files_.write("cert.pem", own.certificate);
    files_.write("key.pem", own.private_key);
    files_.write("both.pem", own.private_key + own.certificate);
    fingerprint_ = own.fingerprint;
  }
  std::string file(std::string_view name) const { return (files_ / name).string(); }
  std::vector<std::string> pair() const {
    return {"--tls-cert", file("cert.pem"), "--tls-key", file("key.pem")};
  }

  std::vector<std::string> command(const std::vector<std::string>& first,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"serve", file("site"), "--port", "0", "--threads", "2"};
    arguments.insert(arguments.end(), first.begin(), first.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void start(const std::vector<std::string>& first, const std::vector<std::string>& more = {}) {
    process_ = std::make_unique<Process>(command(first, more));
    const std::string line = process_->line();
    constexpr std::string_view expected = "listening on https://127.0.0.1:";
    ASSERT_TRUE(line.starts_with(expected)) << line << process_->errors();
    port_ = static_cast<std::uint16_t>(std::stoul(line.substr(expected.size())));
  }
  void end() {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0);
  }
  std::string get(const ClientTlsOptions& client) const {
    return TlsConnection(port_, client).ask(request_);
  }
  std::string get() const { return get(trusting_); }
  std::string shown_fingerprint() const {
    const TlsConnection connection(port_, {.insecure = true});
    return connection.engine().peer_certificate().fingerprint;
  }
  // The plain HTTP port that is redirected to HTTPS.
  std::uint16_t redirect_port() const {
    constexpr std::string_view expected = "redirecting http://127.0.0.1:";
    const std::string said = process_->errors_until(expected);
    const std::size_t at = said.find(expected);
    EXPECT_NE(at, said.npos) << said;
    return static_cast<std::uint16_t>(std::stoul(said.substr(at + expected.size())));
  }

  static constexpr std::string_view request_ =
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  support::TemporaryDirectory files_;
  tls::Issued root_;
  ClientTlsOptions trusting_;
  std::string fingerprint_;
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
};

TEST_F(HttpsTest, ServesWithACertificateAndItsKey) {
  start(pair());
  const std::string answer = get();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n<h1>home</h1>"));
  EXPECT_EQ(answer.find("Strict-Transport-Security"), answer.npos);
  EXPECT_EQ(shown_fingerprint(), fingerprint_);
  const TlsConnection both(port_, trusting_, {"h2", "http/1.1"});
  EXPECT_EQ(both.engine().protocol(), "h2");
  end();
}

TEST_F(HttpsTest, TheKeyMayBeInTheCertificatesFile) {
  start({"--tls-cert", file("both.pem"), "--no-http2", "--hsts", "60"});
  EXPECT_NE(get().find("\r\nStrict-Transport-Security: max-age=60\r\n"), std::string::npos);
  const TlsConnection both(port_, trusting_, {"h2", "http/1.1"});
  EXPECT_EQ(both.engine().protocol(), "http/1.1");
  end();
}

TEST_F(HttpsTest, TellsTheFingerprintOfACertificateThatItMade) {
  start({"--tls-self-signed"});
  const std::string said = process_->errors_until("SHA-256");
  EXPECT_NE(said.find("SHA-256 " + shown_fingerprint() + "\n"), std::string::npos) << said;
  EXPECT_TRUE(get({.insecure = true}).ends_with("<h1>home</h1>"));
  EXPECT_EQ(get(), "");
  end();
}

TEST_F(HttpsTest, WarnsOfAPrivateKeyThatClientsCouldAskFor) {
  for (const char* const folder : {"site", "."}) {  // below, and beside
    start({"--vhost", "other.example=" + file(folder), "--tls-cert", file("both.pem")});
    process_->signal(SIGTERM);
    const std::string said = process_->errors();
    EXPECT_EQ(said.find("WARNING: the private key is in the served folder: move " +
                        file("both.pem")) != said.npos,
              std::string_view(folder) == ".")
        << said;
  }
}

TEST_F(HttpsTest, TellsNothingWhenItIsQuiet) {
  start({"--tls-self-signed", "--redirect-http", "0", "--quiet"});
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->errors(), "");
}

TEST_F(HttpsTest, RequiresCertificatesOfClients) {
  start(pair(), {"--tls-client-ca", file("root.pem")});
  EXPECT_EQ(get(), "");
  ClientTlsOptions known = trusting_;
  const tls::Issued client = made({.common_name = "client"}, &root_);
  known.certificate = {client.certificate, client.private_key};
  EXPECT_TRUE(get(known).ends_with("<h1>home</h1>"));
  const tls::Issued other_root = made({.common_name = "Other", .is_authority = true});
  const tls::Issued stranger = made({.common_name = "client"}, &other_root);
  known.certificate = {stranger.certificate, stranger.private_key};
  EXPECT_EQ(get(known), "");
  end();
}

TEST_F(HttpsTest, DoesNotStartWithWhatCannotBeUsed) {
  files_.write("nonsense.pem", "nonsense");
  struct Case {
    std::vector<std::string> arguments;
    std::string named;
    std::string_view reason;
  };
  const std::string cert = file("cert.pem");
  for (const Case& wrong : {
           Case{{"--tls-cert", cert, "--tls-key", file("other.pem")},
                file("other.pem"),
                "does not belong to"},
           Case{{"--tls-cert", file("none.pem")}, file("none.pem"), "No such file"},
           Case{{"--tls-cert", cert, "--tls-key", file("none.pem")}, file("none.pem"), "check the"},
           Case{{"--tls-cert", file("nonsense.pem")}, file("nonsense.pem"), "is not PEM"},
           Case{{"--tls-cert", cert}, cert, "has no private key in it"},
           Case{{"--tls-cert", file("key.pem")}, file("key.pem"), "has no certificate in it"},
           Case{{"--tls-self-signed", "--tls-client-ca", file("none.pem")},
                file("none.pem"),
                "No such file"},
       }) {
    Process process(command(wrong.arguments));
    EXPECT_EQ(process.line(), "");
    const std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 1) << errors;
    EXPECT_TRUE(errors.starts_with("skua: cannot serve HTTPS: ")) << errors;
    EXPECT_NE(errors.find("'" + wrong.named + "'"), errors.npos) << errors;
    EXPECT_NE(errors.find(wrong.reason), errors.npos) << errors;
    EXPECT_TRUE(errors.ends_with("\n")) << errors;
  }
}

TEST_F(HttpsTest, OptionsThatDoNotGoTogetherAreRefusedWithASentence) {
  const std::string cert = file("cert.pem");
  struct Case {
    std::vector<std::string> arguments;
    std::string_view sentence;
  };
  for (const Case& wrong : {
           Case{{"--tls-key", cert}, "--tls-key: needs a certificate"},
           Case{{"--tls-cert", cert, "--tls-self-signed"},
                "cannot be used together with --tls-cert"},
           Case{{"--tls-key", cert, "--tls-self-signed"}, "cannot be used together with --tls-key"},
           Case{{"--tls-cert", ""}, "the file name is empty"},
           Case{{"--tls-client-ca", cert}, "--tls-client-ca: needs HTTPS"},
           Case{{"--redirect-http", "0"}, "--redirect-http: needs HTTPS"},
           Case{{"--redirect-http", "70000", "--tls-cert", cert}, "--redirect-http"},
           Case{{"--redirect-http", "8080", "--tls-cert", cert, "--port", "8080"},
                "--redirect-http: must differ from --port"},
           Case{{"--redirect-http", "0", "--tls-cert", cert, "--host", "unix:/x"}, "a Unix socket"},
           Case{{"--hsts", "60"}, "--hsts: needs HTTPS"},
           Case{{"--hsts", "0", "--tls-cert", cert}, "--hsts"},
           Case{{"--hsts", "60", "--tls-self-signed"}, "the new certificate after a restart"},
       }) {
    std::vector<std::string> arguments = wrong.arguments;
    arguments.insert(arguments.begin(), "serve");
    Process process(arguments);
    const std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 2) << errors;
    EXPECT_NE(errors.find(wrong.sentence), errors.npos) << errors;
  }
}

TEST_F(HttpsTest, PlainHttpIsSentToHttps) {
  start(pair(), {"--redirect-http", "0", "--hsts", "60"});
  const std::uint16_t plain = redirect_port();
  const auto ask = [plain](const std::string& head) {
    const Connection connection(plain);
    connection.send(head + "\r\nConnection: close\r\n\r\n");
    return connection.receive();
  };
  const std::string port = ":" + std::to_string(port_);
  for (const auto& [host, expected] :
       std::vector<std::pair<std::string, std::string>>{{"example.com", "example.com"},
                                                        {"example.com:8080", "example.com"},
                                                        {"127.0.0.1:80", "127.0.0.1"},
                                                        {"[::1]:8080", "[::1]"}}) {
    const std::string answer = ask("GET /a%20b//c?d=%2F&e HTTP/1.1\r\nHost: " + host);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 308 ")) << answer;
    const std::string location = "https://" + expected + port + "/a%20b//c?d=%2F&e";
    EXPECT_NE(answer.find("\r\nLocation: " + location + "\r\n"), answer.npos) << answer;
    EXPECT_EQ(answer.find("Strict-Transport-Security"), answer.npos) << answer;
  }
  for (const char* host : {"", "a b", "a@evil.example", "a/evil.example", "a\\b", "a:b", "a:99999",
                           "[::1", "a, b", "a\rX: y", "a?b", "a#b", "\xc3\xa4"}) {
    const std::string answer = ask(std::string("GET / HTTP/1.1\r\nHost: ") + host);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << host << "\n" << answer;
    EXPECT_EQ(answer.find("Location"), answer.npos) << host;
  }
  EXPECT_TRUE(ask("GET / HTTP/1.0").starts_with("HTTP/1.1 400 "));
  const std::string twice = ask("GET / HTTP/1.1\r\nHost: a\r\nHost: b");
  EXPECT_TRUE(twice.starts_with("HTTP/1.1 400 ")) << twice;
  // The response does not wait for the content.
  const std::string post = ask("POST /form HTTP/1.1\r\nHost: a\r\nContent-Length: 99");
  EXPECT_NE(post.find("\r\nLocation: https://a" + port + "/form\r\n"), post.npos) << post;
  EXPECT_TRUE(get().ends_with("<h1>home</h1>"));
  end();
  EXPECT_FALSE(Connection(plain).is_open());
}

TEST_F(HttpsTest, APortOfPlainHttpThatIsTakenIsSaid) {
  start(pair(), {"--redirect-http", "0"});
  const std::string taken = std::to_string(redirect_port());
  Process second(command(pair(), {"--redirect-http", taken}));
  EXPECT_EQ(second.line(), "");
  const std::string errors = second.errors();
  EXPECT_EQ(second.wait(), 1);
  EXPECT_NE(errors.find("127.0.0.1:" + taken), errors.npos) << errors;
  EXPECT_NE(errors.find("--redirect-http 0"), errors.npos) << errors;
}

TEST_F(HttpsTest, AHangupReadsCertificatesAgainAndKeepsTheOldWhereTheyAreBad) {
  start(pair(), {"--redirect-http", "0"});
  const std::string before = fingerprint_;
  files_.write("key.pem", "nonsense");
  process_->signal(SIGHUP);
  const std::string refused = process_->errors_until("TLS: ");
  EXPECT_NE(refused.find("keeping the old certificates: the private key '" + file("key.pem") + "'"),
            refused.npos)
      << refused;
  EXPECT_TRUE(get().ends_with("<h1>home</h1>"));
  EXPECT_EQ(shown_fingerprint(), before);
  write_certificate();
  process_->signal(SIGHUP);
  const std::string taken = process_->errors_until("TLS: ");
  EXPECT_NE(taken.find("TLS: certificates reloaded"), taken.npos) << taken;
  EXPECT_TRUE(get().ends_with("<h1>home</h1>"));
  EXPECT_EQ(shown_fingerprint(), fingerprint_);
  EXPECT_NE(fingerprint_, before);
  end();
}

TEST(HttpsTestWithoutTls, OptionsAreNotListedAndRejected) {
  if (crypto::is_available()) GTEST_SKIP() << "built with OpenSSL";
  const std::array<std::array<std::string, 3>, 6> cases = {{{"serve", "--tls-cert", "cert.pem"},
                                                            {"serve", "--tls-self-signed", "true"},
                                                            {"serve", "--hsts", "60"},
                                                            {"get", "--ca", "ca.pem"},
                                                            {"ws", "--insecure", "true"},
                                                            {"bench", "--insecure", "true"}}};
  for (const auto& [command, option, value] : cases) {
    Process help({command, "--help"});
    EXPECT_EQ(help.output().find(option), std::string::npos) << command;
    EXPECT_EQ(help.wait(), 0);
    Process refused({command, "http://127.0.0.1:1", option + "=" + value});
    const std::string expected = "skua: " + option + ": this build of skua has no TLS\n";
    EXPECT_TRUE(refused.errors().starts_with(expected)) << command << option;
    EXPECT_EQ(refused.wait(), 2);
  }
}

TEST_F(HttpsTest, PrintsItsSettings) {
  Process process(command(pair(), {"--redirect-http", "8081", "--print-config"}));
  const std::string text = process.output();
  EXPECT_EQ(process.wait(), 0);
  for (const std::string& part :
       {std::string("[https]"), "\ntls-cert = \"" + file("cert.pem") + "\"\n",
        "\ntls-key = \"" + file("key.pem") + "\"\n",
        std::string("minimum_version              = 1.2"), std::string("\nredirect-http = 8081\n"),
        std::string("\n# hsts = SECONDS\n"), std::string("reload_interval              = 60 s"),
        std::string("handshake                    = 10 s"),
        std::string("http2_streams                = 100")}) {
    EXPECT_NE(text.find(part), text.npos) << part << "\n" << text;
  }
}

}  // namespace
}  // namespace skua::test
