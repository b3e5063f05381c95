// SPDX-License-Identifier: MIT
#include "middleware/digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "crypto/digest.hpp"
#include "skua/testing.hpp"

namespace skua::middleware {
namespace {

using skua::testing::FakeRequest;

// A clock that the verifier owns and the test advances.
class BorrowedClock final : public loop::Clock {
 public:
  explicit BorrowedClock(const loop::Clock& clock) noexcept : clock_(clock) {}
  [[nodiscard]] loop::Instant now() const noexcept override { return clock_.now(); }
  [[nodiscard]] bool passes_by_itself() const noexcept override { return false; }

 private:
  const loop::Clock& clock_;
};

auth::DigestOptions options() {
  auth::DigestOptions out;
  out.realm = "staff";
  out.lookup = [](std::string_view user) -> std::optional<auth::DigestSecret> {
    if (user == "ada") return auth::DigestSecret{.password = "secret"};
    if (user == "eve") {
      return auth::DigestSecret{
          .sha256 = digest_secret(DigestAlgorithm::Sha256, "eve", "staff", "apple").value()};
    }
    if (user == "nopass") return auth::DigestSecret{};
    return std::nullopt;
  };
  return out;
}

class DigestGuard : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
    use(options());
  }

  void use(auth::DigestOptions options) {
    verifier_ = std::make_unique<DigestVerifier>(std::move(options),
                                                 std::make_unique<BorrowedClock>(clock_));
  }

  // Returns the status, and " stale" if the challenge says so. Stores the challenges.
  std::string ask(std::string_view field, std::string_view line = "GET /a?b=c",
                  std::string_view body = {}) {
    FakeRequest fake(line, body);
    if (!field.empty()) fake.header("Authorization", field);
    const auto response = verifier_->check(fake.request());
    if (!response) return "in as " + auth::user(fake.request())->name;
    const std::string status = std::to_string(code(response->status()));
    challenges_.clear();
    const std::string_view wire = response->lines().wire();
    constexpr std::string_view name = "WWW-Authenticate: ";
    for (std::size_t at = wire.find(name); at != wire.npos; at = wire.find(name, at + 1)) {
      const std::size_t begin = at + name.size();
      challenges_.emplace_back(wire.substr(begin, wire.find("\r\n", at) - begin));
    }
    if (challenges_.empty()) return status;
    const bool is_stale = challenges_.front().find("stale=true") != std::string::npos;
    return status + (is_stale ? " stale" : "");
  }

  // Returns a client that has seen the last challenges.
  DigestSession client(std::string user, std::string password) {
    DigestSession session(std::move(user), std::move(password));
    const std::vector<std::string_view> fields(challenges_.begin(), challenges_.end());
    session.accept(fields).value();
    return session;
  }

  loop::ManualClock clock_;
  std::unique_ptr<DigestVerifier> verifier_;
  std::vector<std::string> challenges_;
};

TEST_F(DigestGuard, AsksWithTheBestAlgorithmFirst) {
  EXPECT_EQ(ask(""), "401");
  ASSERT_EQ(challenges_.size(), 2U);
  const auto first = DigestChallenge::from(parse_credentials(challenges_[0]).value()).value();
  const auto second = DigestChallenge::from(parse_credentials(challenges_[1]).value()).value();
  EXPECT_EQ(first.algorithm, DigestAlgorithm::Sha256);
  EXPECT_EQ(second.algorithm, DigestAlgorithm::Md5);
  EXPECT_EQ(first.realm, "staff");
  EXPECT_TRUE(first.offers_auth);
  EXPECT_FALSE(first.offers_auth_int || first.is_stale || first.wants_user_hash);
}

TEST_F(DigestGuard, LetsInWhoKnowsThePassword) {
  ask("");
  DigestSession ada = client("ada", "secret");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(ada.authorize("GET", "/a?b=c").value()), "in as ada");
  ask("");
  DigestSession eve = client("eve", "apple");
  EXPECT_EQ(ask(eve.authorize("GET", "/a?b=c").value()), "in as eve");
  const auto wrong = [this](const char* user, const char* password) {
    ask("");
    return ask(client(user, password).authorize("GET", "/a?b=c").value());
  };
  EXPECT_EQ(wrong("ada", "Secret"), "401");
  EXPECT_EQ(wrong("ada", ""), "401");
  EXPECT_EQ(wrong("bob", "secret"), "401");
  EXPECT_EQ(wrong("eve", ""), "401");
  EXPECT_EQ(wrong("nopass", ""), "401");
}

TEST_F(DigestGuard, AProofIsGoodForOneRequest) {
  ask("");
  DigestSession ada = client("ada", "secret");
  const std::string first = ada.authorize("GET", "/a?b=c").value();
  const std::string second = ada.authorize("GET", "/a?b=c").value();
  EXPECT_EQ(ask(second), "in as ada") << "overtaken on another connection";
  EXPECT_EQ(ask(first), "in as ada");
  EXPECT_EQ(ask(first), "401 stale");
  EXPECT_EQ(ask(second), "401 stale");
  EXPECT_EQ(ask(ada.authorize("GET", "/a?b=c").value(), "POST /a?b=c"), "401");
  EXPECT_EQ(ask(ada.authorize("GET", "/a?b=d").value()), "400");
  EXPECT_EQ(ask(ada.authorize("GET", "http://x/a?b=c").value()), "in as ada");
}

TEST_F(DigestGuard, AnOldNonceIsStaleForThoseWhoKnowThePassword) {
  ask("");
  DigestSession ada = client("ada", "secret");
  DigestSession mallory = client("ada", "guess");
  clock_.advance(6min);
  EXPECT_EQ(ask(mallory.authorize("GET", "/a?b=c").value()), "401");
  EXPECT_EQ(ask(ada.authorize("GET", "/a?b=c").value()), "401 stale");
  EXPECT_EQ(ask(client("ada", "secret").authorize("GET", "/a?b=c").value()), "in as ada");
}

TEST_F(DigestGuard, ANonceOfAnotherServerIsStale) {
  ask("");
  DigestSession ada = client("ada", "secret");
  use(options());
  EXPECT_EQ(ask(ada.authorize("GET", "/a?b=c").value()), "401 stale");
}

TEST_F(DigestGuard, ProtectsTheContentWhereAsked) {
  auth::DigestOptions integrity = options();
  integrity.integrity = true;
  ask("");
  const std::string offered = challenges_[0];
  // A client that insists on auth-int.
  const auto insist = [](std::string challenge) {
    const std::size_t at = challenge.find("qop=\"auth");
    return challenge.replace(at, challenge.find('"', at + 5) - at, "qop=\"auth-int");
  };
  challenges_ = {insist(offered)};
  const std::string line = "POST /a?b=c";
  EXPECT_EQ(ask(client("ada", "secret").authorize("POST", "/a?b=c", "body").value(), line, "body"),
            "401");
  use(integrity);
  ask("");
  EXPECT_NE(challenges_[0].find("qop=\"auth, auth-int\""), std::string::npos);
  challenges_ = {insist(challenges_[0])};
  DigestSession ada = client("ada", "secret");
  EXPECT_EQ(ask(ada.authorize("POST", "/a?b=c", "body").value(), line, "body"), "in as ada");
  EXPECT_EQ(ask(ada.authorize("POST", "/a?b=c", "body").value(), line, "Body"), "401");
}

TEST_F(DigestGuard, FindsHiddenUsers) {
  ask("");
  DigestChallenge asked = DigestChallenge::from(parse_credentials(challenges_[0]).value()).value();
  asked.wants_user_hash = true;
  challenges_ = {asked.field()};
  EXPECT_EQ(ask(client("ada", "secret").authorize("GET", "/a?b=c").value()), "401")
      << "not offered";
  auth::DigestOptions hiding = options();
  hiding.find_user = [](DigestAlgorithm algorithm,
                        std::string_view hash) -> std::optional<std::string> {
    if (hash == digest_user_hash(algorithm, "ada", "staff").value()) return "ada";
    return std::nullopt;
  };
  use(hiding);
  ask("");
  EXPECT_EQ(ask(client("ada", "secret").authorize("GET", "/a?b=c").value()), "in as ada");
  ask("");
  EXPECT_EQ(ask(client("bob", "secret").authorize("GET", "/a?b=c").value()), "401");
}

TEST_F(DigestGuard, RefusesWhatItDidNotOffer) {
  ask("");
  const auto good = DigestCredentials::from(
      parse_credentials(client("ada", "secret").authorize("GET", "/a?b=c").value()).value());
  const auto ask_changed = [&](auto change) {
    DigestCredentials changed = good.value();
    change(changed);
    const auto key = digest_secret(changed.algorithm, "ada", changed.realm, "secret").value();
    changed.response = changed.compute(key, "GET").value();
    return ask(changed.field());
  };
  EXPECT_EQ(ask_changed([](auto& c) { c.qop = DigestQop::Legacy; }), "401")
      << "it could be replayed";
  EXPECT_EQ(ask_changed([](auto& c) { c.algorithm = DigestAlgorithm::Sha512256; }), "401");
  EXPECT_EQ(ask_changed([](auto& c) { c.algorithm = DigestAlgorithm::Sha256Sess; }), "401");
  EXPECT_EQ(ask_changed([](auto& c) { c.realm = "other"; }), "401");
  EXPECT_EQ(ask_changed([](auto& c) { c.nonce = "mine"; }), "401 stale");
  EXPECT_EQ(ask_changed([](auto&) {}), "in as ada");
  for (const std::string_view field :
       {"Digest", "Digest a", "Digest username=ada", "Basic YTpi", "\"", "x"}) {
    EXPECT_EQ(ask(field), "401") << field;
  }
}

TEST_F(DigestGuard, AProxyHasFieldsOfItsOwn) {
  auth::DigestOptions proxy = options();
  proxy.role = auth::Role::Proxy;
  use(proxy);
  FakeRequest fake("GET /");
  const auto response = verifier_->check(fake.request());
  EXPECT_EQ(response->status(), Status::ProxyAuthenticationRequired);
  EXPECT_TRUE(response->header("Proxy-Authenticate"));
}

TEST_F(DigestGuard, IsSetUpRightly) {
  const auto refused = [](auto change) {
    auth::DigestOptions wrong = options();
    change(wrong);
    EXPECT_THROW((void)auth::digest(std::move(wrong)), std::invalid_argument);
  };
  refused([](auto& o) { o.lookup = {}; });
  refused([](auto& o) { o.algorithms.clear(); });
  refused([](auto& o) { o.nonce_age = 0s; });
  refused([](auto& o) { o.realm = "a\nb"; });
  refused([](auto& o) { o.domain = "\r\n"; });
  EXPECT_NO_THROW((void)auth::digest(options()));
}

TEST(DigestWithoutOpenSsl, IsRefusedAtSetUp) {
  if (crypto::is_available()) GTEST_SKIP() << "built with OpenSSL";
  EXPECT_THROW((void)auth::digest(options()), std::invalid_argument);
}

}  // namespace
}  // namespace skua::middleware
