// SPDX-License-Identifier: MIT
#include "tls/reloadable_context.hpp"

#include "support/temporary_directory.hpp"
#include "support/tls_pair.hpp"

namespace skua::tls {
namespace {

class Reload : public TlsTest {
 protected:
  void write(const Issued& issued) {
    folder.write("cert.pem", issued.certificate);
    folder.write("key.pem", issued.private_key);
  }
  std::unique_ptr<ReloadableContext> create() {
    write(authorities().server);
    server_options.certificate = (folder / "cert.pem").string();
    server_options.private_key = (folder / "key.pem").string();
    auto made = ReloadableContext::create(server_options, server_protocols, clock);
    if (!made) throw std::runtime_error(made.error().text);
    return *std::move(made);
  }
  support::TemporaryDirectory folder;
  const Issued renewed_ =
      crypto_is_there()
          ? made({.common_name = "renewed", .hosts = {"example.com"}}, &authorities().root)
          : Issued{};
};

TEST_F(Reload, ShowsTheNewCertificateToNewConnections) {
  const auto context = create();
  EXPECT_FALSE(context->reload_if_changed().value());
  TlsPair before(context->current(), client_context()->connect("example.com"));
  write(renewed_);
  EXPECT_TRUE(context->reload_if_changed().value());
  EXPECT_FALSE(context->reload_if_changed().value());
  EXPECT_EQ(context->current()->fingerprint(), renewed_.fingerprint);
  before.start();  // keeps the context it started with
  EXPECT_EQ(before.client.stream->engine().peer_certificate().fingerprint,
            authorities().server.fingerprint);
  TlsPair after(context->current(), client_context()->connect("example.com"));
  after.start();
  EXPECT_EQ(after.client.stream->engine().peer_certificate().fingerprint, renewed_.fingerprint);
}

TEST_F(Reload, KeepsTheOldOneAndSaysWhyOnce) {
  const auto context = create();
  const auto old = context->current();
  folder.write("cert.pem", renewed_.certificate);  // the key comes later
  const auto checked = context->reload_if_changed();
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().text.find("does not belong to"), std::string::npos);
  EXPECT_FALSE(context->reload_if_changed().value());
  EXPECT_EQ(context->current(), old);
  ASSERT_FALSE(context->reload());
  std::filesystem::remove(folder / "key.pem");
  EXPECT_FALSE(context->reload_if_changed());
  EXPECT_EQ(context->current(), old);
  write(renewed_);
  EXPECT_TRUE(context->reload_if_changed().value());
  EXPECT_EQ(context->current()->fingerprint(), renewed_.fingerprint);
}

TEST_F(Reload, KeepsTickets) {
  const auto context = create();
  const auto client = client_context();
  const auto talk = [&](const std::string& session) {
    auto both =
        std::make_unique<TlsPair>(context->current(), client->connect("example.com", session));
    both->start();
    return both;
  };
  const std::string session = talk({})->client.stream->engine().session();
  EXPECT_TRUE(context->reload());
  EXPECT_TRUE(talk(session)->server.stream->engine().is_resumed());
}

TEST_F(Reload, ASelfSignedCertificateStaysTheSame) {
  server_options = {.self_signed = true};
  const auto made = ReloadableContext::create(server_options, {}, clock);
  ASSERT_TRUE(made);
  const std::string fingerprint = (*made)->current()->fingerprint();
  EXPECT_TRUE((*made)->reload());
  EXPECT_EQ((*made)->current()->fingerprint(), fingerprint);
}

TEST_F(Reload, TheFirstTimeHasToSucceed) {
  server_options.certificate = (folder / "missing.pem").string();
  const auto made = ReloadableContext::create(server_options, {}, clock);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Errc::TlsConfiguration);
}

}  // namespace
}  // namespace skua::tls
