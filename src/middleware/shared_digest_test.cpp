// SPDX-License-Identifier: MIT
#include "skua/shared_digest.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"
#include "support/memory_texts.hpp"

namespace skua {
namespace {

using testing::FakeRequest;
using testing::MemoryTexts;

const std::string secret(32, 'k');

auth::DigestOptions digest_options() {
  auth::DigestOptions options{.realm = "staff"};
  options.integrity = true;
  options.lookup = [](std::string_view user) -> std::optional<auth::DigestSecret> {
    if (user == "ada") return auth::DigestSecret{.password = "secret"};
    return std::nullopt;
  };
  return options;
}

/// Two servers behind one address.
class SharedDigests : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
    add_to(here, secret, store);
    add_to(there, secret, store);
  }
  static void add_to(Router& router, const std::string& key, std::shared_ptr<SharedTexts> texts) {
    router.use(auth::shared_digest(digest_options(), key, std::move(texts)));
    router.get("/", [](const Request& request) { return auth::user(request)->name; });
    router.post("/", [](const Request& request) { return std::string(request.body()); });
  }
  // Returns the text of the response, or its status, and " stale" if its challenge says so.
  std::string ask(Router& router, std::string_view field, std::string_view line = "GET /",
                  std::string_view body = {}) {
    FakeRequest fake(line, body);
    if (!field.empty()) fake.header("Authorization", field);
    const Response response = router.handle(fake.request());
    if (response.status() == Status::Ok) return std::string(response.body());
    challenge = response.header("WWW-Authenticate").value_or("");
    const bool is_stale = challenge.find("stale=true") != std::string::npos;
    return std::to_string(code(response.status())) + (is_stale ? " stale" : "");
  }
  // Returns a client that has seen a challenge of this server.
  DigestSession client(Router& router, std::string password = "secret") {
    EXPECT_EQ(ask(router, ""), "401");
    DigestSession session("ada", std::move(password));
    const std::string_view fields[] = {challenge};
    session.accept(fields).value();
    return session;
  }

  std::shared_ptr<MemoryTexts> store = std::make_shared<MemoryTexts>();
  Router here;
  Router there;
  std::string challenge;
};

TEST_F(SharedDigests, EveryServerAcceptsTheNoncesOfAll) {
  DigestSession ada = client(here);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask(there, ada.authorize("GET", "/").value()), "ada");
    EXPECT_EQ(ask(here, ada.authorize("GET", "/").value()), "ada");
  }
  EXPECT_EQ(store->texts.size(), 6U);
}

TEST_F(SharedDigests, AProofIsGoodForOneRequestToAnyServer) {
  DigestSession ada = client(here);
  const std::string first = ada.authorize("GET", "/").value();
  const std::string second = ada.authorize("GET", "/").value();
  EXPECT_EQ(ask(there, second), "ada") << "overtaken on another connection";
  EXPECT_EQ(ask(here, first), "ada");
  for (Router* const router : {&here, &there}) {
    EXPECT_EQ(ask(*router, first), "401 stale");
    EXPECT_EQ(ask(*router, second), "401 stale");
  }
  const std::string_view fields[] = {challenge};
  ada.accept(fields).value();
  EXPECT_EQ(ask(here, ada.authorize("GET", "/").value()), "ada") << "with the new nonce";
}

TEST_F(SharedDigests, NobodyWithoutThePasswordReachesTheStore) {
  DigestSession mallory = client(here, "guess");
  EXPECT_EQ(ask(here, mallory.authorize("GET", "/").value()), "401");
  DigestSession ada = client(here);
  EXPECT_EQ(ask(there, ada.authorize("GET", "/other").value()), "400");
  EXPECT_TRUE(store->texts.empty());
}

TEST_F(SharedDigests, ANonceOfAnotherKeyIsStale) {
  Router other;
  add_to(other, std::string(32, 'o'), store);
  DigestSession ada = client(other);
  EXPECT_EQ(ask(here, ada.authorize("GET", "/").value()), "401 stale");
}

TEST_F(SharedDigests, EachServerDecidesByItselfIfTheStoreHasFailed) {
  DigestSession ada = client(here);
  store->has_failed = true;
  const std::string proof = ada.authorize("GET", "/").value();
  EXPECT_EQ(ask(here, proof), "ada");
  EXPECT_EQ(ask(here, proof), "401 stale");
  EXPECT_EQ(ask(there, proof), "ada") << "nobody has told it";
  EXPECT_EQ(ask(there, proof), "401 stale");
  store->has_failed = false;
  EXPECT_EQ(ask(here, ada.authorize("GET", "/").value()), "ada");
  EXPECT_TRUE(store->texts.empty()) << "a store that has failed is left alone for a while";
}

TEST_F(SharedDigests, ProtectTheContent) {
  EXPECT_EQ(ask(here, ""), "401");
  const std::size_t at = challenge.find("auth, auth-int");
  ASSERT_NE(at, std::string::npos);
  challenge.replace(at, 14, "auth-int");  // the client insists on it
  DigestSession ada("ada", "secret");
  const std::string_view fields[] = {challenge};
  ada.accept(fields).value();
  EXPECT_EQ(ask(there, ada.authorize("POST", "/", "body").value(), "POST /", "body"), "body");
  EXPECT_EQ(ask(there, ada.authorize("POST", "/", "body").value(), "POST /", "Body"), "401");
}

TEST_F(SharedDigests, AreSetUpRightly) {
  const auto set_up = [](const std::string& key, std::shared_ptr<SharedTexts> texts) {
    return auth::shared_digest(digest_options(), key, std::move(texts));
  };
  EXPECT_THROW((void)set_up(std::string(31, 'k'), store), std::invalid_argument);
  EXPECT_THROW((void)set_up(secret, nullptr), std::invalid_argument);
  EXPECT_THROW((void)auth::shared_digest({}, secret, store), std::invalid_argument);
  EXPECT_NO_THROW((void)set_up(secret, store));
}

}  // namespace
}  // namespace skua
