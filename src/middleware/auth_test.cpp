// SPDX-License-Identifier: MIT
#include "skua/auth.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "skua/async.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

// Responds with the name of the authenticated user.
Router whoami() {
  Router router;
  router.get("/", [](const Request& request) {
    const auth::User* const user = auth::user(request);
    return user == nullptr ? std::string("somebody") : user->name;
  });
  return router;
}

Response ask(const Router& router, std::string_view field,
             std::string_view name = "Authorization") {
  FakeRequest fake("GET /");
  if (!field.empty()) fake.header(name, field);
  return router.handle(fake.request());
}

Router with_basic(auth::Role role = auth::Role::Origin) {
  Router router = whoami();
  router.use(auth::basic(
      "the \"staff\"",
      [](std::string_view user, std::string_view password) {
        return user == "ada" && auth::token_equals(password, "p:\xc3\xa4");
      },
      role));
  return router;
}

std::string basic_field(std::string user, std::string password) {
  return BasicCredentials{std::move(user), std::move(password)}.field().value();
}

TEST(Basic, LetsInWhoKnowsThePassword) {
  const Router router = with_basic();
  EXPECT_EQ(ask(router, basic_field("ada", "p:\xc3\xa4")).body(), "ada");
  EXPECT_EQ(ask(router, basic_field("ada", "p")).status(), Status::Unauthorized);
  EXPECT_EQ(ask(router, basic_field("bob", "p:\xc3\xa4")).status(), Status::Unauthorized);
}

TEST(Basic, AsksWithARealm) {
  const Router router = with_basic();
  for (const std::string_view field :
       {"", "Basic", "Basic !", "Bearer abc", "Basic YWRh", "\"", ","}) {
    const Response response = ask(router, field);
    EXPECT_EQ(response.status(), Status::Unauthorized) << field;
    EXPECT_EQ(response.header("WWW-Authenticate"),
              R"(Basic realm="the \"staff\"", charset="UTF-8")");
    EXPECT_NE(response.body(), "ada");
  }
}

TEST(Basic, TwoFieldsAreNone) {
  const Router router = with_basic();
  const std::string field = basic_field("ada", "p:\xc3\xa4");
  FakeRequest fake("GET /");
  fake.header("Authorization", field).header("authorization", field);
  EXPECT_EQ(router.handle(fake.request()).status(), Status::Unauthorized);
}

TEST(Basic, AProxyHasFieldsOfItsOwn) {
  const Router router = with_basic(auth::Role::Proxy);
  const std::string field = basic_field("ada", "p:\xc3\xa4");
  const Response refused = ask(router, field);
  EXPECT_EQ(refused.status(), Status::ProxyAuthenticationRequired);
  EXPECT_TRUE(refused.header("Proxy-Authenticate"));
  EXPECT_FALSE(refused.header("WWW-Authenticate"));
  EXPECT_EQ(ask(router, field, "Proxy-Authorization").body(), "ada");
}

TEST(Basic, IsSetUpRightly) {
  EXPECT_THROW((void)auth::basic("a\nb", [](auto, auto) { return true; }), std::invalid_argument);
  EXPECT_THROW((void)auth::basic("a", {}), std::invalid_argument);
}

TEST(Bearer, AnswersAsTheStandardSays) {
  Router router = whoami();
  router.use(auth::bearer([](std::string_view token) -> auth::TokenVerdict {
    if (token == "weak") return auth::TokenVerdict::lacks_scope("admin");
    if (token == "anonymous") return true;
    if (token == "ada==") return auth::User{"ada"};
    return false;
  }));
  EXPECT_EQ(ask(router, "Bearer ada==").body(), "ada");
  EXPECT_EQ(ask(router, "bearer   anonymous").body(), "somebody");
  struct Expected {
    std::string_view field;
    Status status;
    std::string_view challenge;
  };
  for (const auto& [field, status, challenge] :
       {Expected{"", Status::Unauthorized, R"(Bearer realm="api")"},
        Expected{"Basic YTpi", Status::Unauthorized, R"(Bearer realm="api")"},
        Expected{"Bearer other", Status::Unauthorized,
                 R"(Bearer realm="api", error="invalid_token")"},
        Expected{"Bearer", Status::BadRequest, R"(Bearer realm="api", error="invalid_request")"},
        Expected{"Bearer a b", Status::BadRequest,
                 R"(Bearer realm="api", error="invalid_request")"},
        Expected{"Bearer a,b", Status::BadRequest,
                 R"(Bearer realm="api", error="invalid_request")"},
        Expected{"Bearer weak", Status::Forbidden,
                 R"(Bearer realm="api", error="insufficient_scope", scope="admin")"}}) {
    const Response response = ask(router, field);
    EXPECT_EQ(response.status(), status) << field;
    EXPECT_EQ(response.header("WWW-Authenticate"), challenge) << field;
  }
}

TEST(Bearer, TakesAPlainAnswerToo) {
  Router router = whoami();
  router.use(
      auth::bearer([](std::string_view token) { return auth::token_equals(token, "t"); }, "r"));
  EXPECT_EQ(ask(router, "Bearer t").body(), "somebody");
  EXPECT_EQ(ask(router, "Bearer u").header("WWW-Authenticate"),
            R"(Bearer realm="r", error="invalid_token")");
  EXPECT_THROW((void)auth::bearer({}), std::invalid_argument);
}

// Guards and these share all but the wait.
TEST(WaitingChecks, AnswerAsTheOthersDo) {
  Router basic = whoami();
  basic.use(auth::basic("r", [](std::string_view user, std::string_view password) -> Task<bool> {
    co_await sleep(1ms);
    co_return user == "ada" && password == "p";
  }));
  EXPECT_EQ(ask(basic, basic_field("ada", "p")).body(), "ada");
  for (const std::string& field :
       {basic_field("ada", "q"), std::string("Basic !"), std::string()}) {
    const Response response = ask(basic, field);
    EXPECT_EQ(response.status(), Status::Unauthorized) << field;
    EXPECT_EQ(response.header("WWW-Authenticate"), R"(Basic realm="r", charset="UTF-8")");
  }
  Router bearer = whoami();
  bearer.use(auth::bearer([](std::string_view token) -> Task<auth::TokenVerdict> {
    co_await sleep(1ms);
    if (token == "weak") co_return auth::TokenVerdict::lacks_scope("admin");
    if (token == "ada") co_return auth::User{"ada"};
    co_return false;
  }));
  EXPECT_EQ(ask(bearer, "Bearer ada").body(), "ada");
  EXPECT_EQ(ask(bearer, "Bearer bob").status(), Status::Unauthorized);
  EXPECT_EQ(ask(bearer, "Bearer weak").status(), Status::Forbidden);
  EXPECT_EQ(ask(bearer, "Bearer a b").status(), Status::BadRequest);
  EXPECT_EQ(ask(bearer, "").header("WWW-Authenticate"), R"(Bearer realm="api")");
}

TEST(WaitingChecks, AreSetUpRightly) {
  const auto check = [](std::string_view, std::string_view) -> Task<bool> { co_return true; };
  EXPECT_THROW((void)auth::basic("a\nb", check), std::invalid_argument);
  EXPECT_THROW((void)auth::WaitingBasic("a", {}, auth::Role::Origin), std::invalid_argument);
  EXPECT_THROW((void)auth::WaitingBearer({}, "a"), std::invalid_argument);
}

}  // namespace
}  // namespace skua
