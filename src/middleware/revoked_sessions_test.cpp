// SPDX-License-Identifier: MIT
#include "skua/revoked_sessions.hpp"

#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "skua/router.hpp"
#include "skua/session.hpp"
#include "skua/testing.hpp"
#include "support/memory_texts.hpp"

namespace skua {
namespace {

using testing::FakeRequest;
using testing::MemoryTexts;

class Revocation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
    router.use(sessions({.keys = {std::string(32, 'a')}}));
    router.use(revoked);
    router.get("/in", [](Request& request) {
      session(request).set("user", "ada");
      return "in";
    });
    router.get("/who", [](Request& request) {
      return std::string(session(request).get("user").value_or("nobody"));
    });
    router.get("/plain", [] { return "plain"; });
    router.get("/out", [this](Request& request) -> Task<Response> {
      const auto done = co_await revoked.revoke(session(request).id());
      co_return done ? Status::NoContent : Status::ServiceUnavailable;
    });
  }
  Response ask(std::string_view line) {
    FakeRequest fake(line);
    if (!cookie.empty()) fake.header("Cookie", cookie);
    Response response = router.handle(fake.request());
    return response;
  }
  void log_in() {
    const Response response = ask("GET /in");
    const std::string set(response.header("Set-Cookie").value());
    cookie = set.substr(0, set.find(';'));
  }

  std::shared_ptr<MemoryTexts> store = std::make_shared<MemoryTexts>();
  RevokedSessions revoked{store};
  std::string cookie;
  Router router;
};

TEST_F(Revocation, ARevokedSessionIsEmpty) {
  log_in();
  EXPECT_EQ(ask("GET /who").body(), "ada");
  EXPECT_EQ(ask("GET /out").status(), Status::NoContent);
  // The cookie is still there: somebody kept a copy.
  const Response response = ask("GET /who");
  EXPECT_EQ(response.body(), "nobody");
  EXPECT_NE(response.header("Set-Cookie").value_or("").find("Max-Age=0"), std::string_view::npos);
  log_in();
  EXPECT_EQ(ask("GET /who").body(), "ada");
}

TEST_F(Revocation, AResponseThatDoesNotUseTheSessionIsNotPrivate) {
  log_in();
  EXPECT_FALSE(ask("GET /plain").header("Cache-Control"));
  EXPECT_EQ(ask("GET /who").header("Cache-Control"), "private");
  EXPECT_EQ(ask("GET /out").status(), Status::NoContent);
  EXPECT_EQ(ask("GET /plain").header("Cache-Control"), "private") << "it deletes the cookie";
}

TEST_F(Revocation, HasALifetime) {
  EXPECT_THROW(RevokedSessions(store, 0s), std::invalid_argument);
  EXPECT_THROW(RevokedSessions(store, -1s), std::invalid_argument);
}

TEST_F(Revocation, WithoutTheStoreNoSessionIsBelieved) {
  log_in();
  store->has_failed = true;
  EXPECT_EQ(ask("GET /who").status(), Status::ServiceUnavailable);
  EXPECT_EQ(ask("GET /out").status(), Status::ServiceUnavailable);
  cookie = "";
  EXPECT_EQ(ask("GET /who").body(), "nobody") << "nothing to ask the store for";
}

}  // namespace
}  // namespace skua
