// SPDX-License-Identifier: MIT
#include "tls/certificate_watch.hpp"

#include <string>
#include <vector>

#include "support/temporary_directory.hpp"
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class CertificateWatching : public TlsTest {
 protected:
  void SetUp() override {
    TlsTest::SetUp();
    if (IsSkipped()) return;
    folder.write("own.pem", authorities().server.certificate + authorities().server.private_key);
    server_options.certificate = (folder / "own.pem").string();
    server_options.private_key.clear();  // it is in the same file
    context = ReloadableContext::create(server_options, server_protocols, clock).value();
    loop = loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock}).value();
  }
  void advance(Duration by) {
    clock.advance(by);
    loop->run_once(Duration::zero());
  }

  support::TemporaryDirectory folder;
  std::unique_ptr<ReloadableContext> context;
  std::unique_ptr<loop::Loop> loop;
  std::vector<std::string> lines;
  const net::Log log = [this](LogLevel level, std::string_view line) {
    lines.push_back((level == LogLevel::Error ? "error " : "info ") + std::string(line));
  };
};

TEST_F(CertificateWatching, ReloadsWhatHasChangedAtEachInterval) {
  CertificateWatch watch(*loop, *context, 60s, log);
  advance(60s);
  EXPECT_TRUE(lines.empty());
  folder.write("own.pem", "nonsense");
  advance(59s);
  EXPECT_TRUE(lines.empty());
  advance(1s);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("error TLS: keeping the old certificates: ")) << lines[0];
  advance(60s);
  EXPECT_EQ(lines.size(), 1U) << "once for each change";
  const Issued renewed = made({.common_name = "renewed", .hosts = {"example.com"}});
  folder.write("own.pem", renewed.certificate + renewed.private_key);
  advance(60s);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], "info TLS: certificates reloaded");
  EXPECT_EQ(context->current()->fingerprint(), renewed.fingerprint);
  watch.stop();
  folder.write("own.pem", "nonsense");
  advance(60s);
  EXPECT_EQ(lines.size(), 2U);
}

TEST_F(CertificateWatching, NeverLooksWithoutAnInterval) {
  const CertificateWatch watch(*loop, *context, Duration::zero(), log);
  folder.write("own.pem", "nonsense");
  advance(1h);
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace skua::tls
