// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/middleware.hpp"
#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

constexpr std::string_view site = "https://example.com";

class CorsTest : public ::testing::Test {
 protected:
  using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  static Response ask(CorsOptions options, std::string_view line, Fields fields) {
    Router router;
    router.use(cors(std::move(options)));
    router.get("/", [] { return "secret"; });
    FakeRequest fake(line);
    for (const auto& [name, value] : fields) fake.header(name, value);
    return router.handle(fake.request());
  }
  static std::string wire(const Response& response) { return std::string(response.lines().wire()); }
};

TEST_F(CorsTest, AllowsTheOriginsOfTheList) {
  const Response response =
      ask({.origins = {"https://a.example", std::string(site)}}, "GET /", {{"Origin", site}});
  EXPECT_EQ(wire(response), "Vary: Origin\r\nAccess-Control-Allow-Origin: https://example.com\r\n");
  EXPECT_EQ(response.body(), "secret");
}

TEST_F(CorsTest, SaysNothingToOthers) {
  for (const std::string_view other :
       {"https://evil.example", "http://example.com", "https://example.com:8443",
        "https://example.com.evil.example", "https://sub.example.com", "HTTPS://EXAMPLE.COM",
        "https://example.com/", "null", "*", ""}) {
    const Response response =
        ask({.origins = {std::string(site)}, .credentials = true}, "GET /", {{"Origin", other}});
    EXPECT_EQ(wire(response), "Vary: Origin\r\n") << other;
  }
  EXPECT_EQ(wire(ask({.origins = {std::string(site)}}, "GET /", {})), "Vary: Origin\r\n");
}

TEST_F(CorsTest, AllowsEveryoneWithoutCredentials) {
  EXPECT_EQ(wire(ask({.origins = {"*"}, .exposed = {"X-A", "X-B"}}, "GET /", {{"Origin", "null"}})),
            "Access-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: X-A, X-B\r\n");
  EXPECT_EQ(wire(ask({.origins = {"*"}}, "GET /", {})), "Access-Control-Allow-Origin: *\r\n");
}

TEST_F(CorsTest, AsksAPredicateButNeverAboutNull) {
  const auto is_ours = [](std::string_view origin) {
    return origin == "null" || origin.ends_with(".example.com");
  };
  const auto allowed = [&](std::string_view origin, CorsOptions options = {}) {
    options.allow_origin = is_ours;
    const Response response = ask(options, "GET /", {{"Origin", origin}});
    return std::string(response.header("Access-Control-Allow-Origin").value_or("nobody"));
  };
  EXPECT_EQ(allowed("https://a.example.com"), "https://a.example.com");
  EXPECT_EQ(allowed("https://example.net"), "nobody");
  EXPECT_EQ(allowed("null"), "nobody");
  EXPECT_EQ(allowed("null", {.origins = {"null"}}), "null");
}

TEST_F(CorsTest, AsksAPredicateOnlyAboutOrigins) {
  std::vector<std::string> asked;
  const CorsOptions options{.allow_origin = [&](std::string_view origin) {
    asked.emplace_back(origin);
    return true;
  }};
  for (const char* const origin :
       {"", "null", "example.com", "https://", "https://a.example/", "https://a.example/.b.example",
        "https://a.example, https://b.example", "https://u@b.example", "https://A.example",
        "https://*.example", "https://a.example:x", "https://a.example#.b.example", "1s://a",
        "javascript:alert(1)"}) {
    const Response response = ask(options, "GET /", {{"Origin", origin}});
    EXPECT_FALSE(response.header("Access-Control-Allow-Origin")) << origin;
  }
  EXPECT_TRUE(asked.empty()) << asked.front();
  for (const char* const origin :
       {"https://a.example", "http://a.example:8080", "https://[::1]:1", "moz-extension://0a-b"}) {
    EXPECT_EQ(ask(options, "GET /", {{"Origin", origin}}).header("Access-Control-Allow-Origin"),
              origin);
  }
}

TEST_F(CorsTest, AnswersAPreflight) {
  const CorsOptions options{.origins = {std::string(site)},
                            .methods = {Method::Get, Method::Put},
                            .headers = {"Content-Type", "X-Key"},
                            .exposed = {"X-A"},
                            .max_age = std::chrono::seconds(60),
                            .credentials = true,
                            .other_methods = {"REPORT"}};
  const Response response = ask(options, "OPTIONS /",
                                {{"Origin", site},
                                 {"Access-Control-Request-Method", "PUT"},
                                 {"Access-Control-Request-Headers", "x-key"}});
  EXPECT_EQ(response.status(), Status::NoContent);
  EXPECT_EQ(response.header("Access-Control-Allow-Origin"), site);
  EXPECT_EQ(response.header("Access-Control-Allow-Methods"), "GET, PUT, REPORT");
  EXPECT_EQ(response.header("Access-Control-Allow-Headers"), "Content-Type, X-Key");
  EXPECT_EQ(response.header("Access-Control-Allow-Credentials"), "true");
  EXPECT_EQ(response.header("Access-Control-Max-Age"), "60");
  EXPECT_EQ(response.header("Access-Control-Expose-Headers"), std::nullopt);
  EXPECT_EQ(response.header("Vary"),
            "Access-Control-Request-Method, Access-Control-Request-Headers, Origin");
}

TEST_F(CorsTest, APreflightOfAStrangerIsAnsweredWithoutLeave) {
  const Response response =
      ask({.origins = {std::string(site)}}, "OPTIONS /",
          {{"Origin", "https://evil.example"}, {"Access-Control-Request-Method", "PUT"}});
  EXPECT_EQ(response.status(), Status::NoContent);
  EXPECT_EQ(wire(response),
            "Vary: Access-Control-Request-Method, Access-Control-Request-Headers, Origin\r\n");
}

TEST_F(CorsTest, AnOptionsRequestThatIsNoPreflightGoesOn) {
  const CorsOptions options{.origins = {"*"}};
  EXPECT_EQ(ask(options, "OPTIONS /", {}).header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(ask(options, "OPTIONS /", {{"Origin", site}}).header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(
      ask(options, "GET /", {{"Origin", site}, {"Access-Control-Request-Method", "PUT"}}).body(),
      "secret");
}

TEST_F(CorsTest, MayAllowWhateverFieldIsAskedFor) {
  const CorsOptions options{
      .origins = {"*"}, .headers = {"*"}, .max_age = std::chrono::seconds(-1)};
  const Response asked = ask(options, "OPTIONS /",
                             {{"Origin", site},
                              {"Access-Control-Request-Method", "GET"},
                              {"Access-Control-Request-Headers", "x-a,x-b"}});
  EXPECT_EQ(asked.header("Access-Control-Allow-Headers"), "x-a,x-b");
  EXPECT_EQ(asked.header("Access-Control-Max-Age"), std::nullopt);
  const Response none =
      ask(options, "OPTIONS /", {{"Origin", site}, {"Access-Control-Request-Method", "GET"}});
  EXPECT_EQ(none.header("Access-Control-Allow-Headers"), std::nullopt);
}

TEST_F(CorsTest, OpensALocalNetworkOnlyWhenToldTo) {
  for (const bool is_open : {false, true}) {
    const Response response = ask({.origins = {"*"}, .private_network = is_open}, "OPTIONS /",
                                  {{"Origin", site},
                                   {"Access-Control-Request-Method", "GET"},
                                   {"Access-Control-Request-Private-Network", "true"}});
    EXPECT_EQ(response.header("Access-Control-Allow-Private-Network").has_value(), is_open);
  }
}

TEST_F(CorsTest, AnAnswerOfAnotherGuardCanBeRead) {
  Router router;
  router.use(cors({.origins = {std::string(site)}}));
  router.use([](Request&) -> std::optional<Response> { return Status::Unauthorized; });
  FakeRequest fake("GET /");
  fake.header("Origin", site);
  const Response response = router.handle(fake.request());
  EXPECT_EQ(response.status(), Status::Unauthorized);
  EXPECT_EQ(response.header("Access-Control-Allow-Origin"), site);
}

TEST_F(CorsTest, RefusesASetUpThatIsOpenByMistakeOrNeverMatches) {
  EXPECT_THROW((void)cors({}), std::invalid_argument);
  EXPECT_THROW((void)cors({.origins = {"*"}, .credentials = true}), std::invalid_argument);
  EXPECT_THROW((void)cors({.origins = {"*", "https://a.example"}}), std::invalid_argument);
  EXPECT_THROW(
      (void)cors({.origins = {"*"}, .allow_origin = [](std::string_view) { return true; }}),
      std::invalid_argument);
  for (const char* const wrong :
       {"", "example.com", "https://example.com/", "https://Example.com", "https://", "://a",
        "https://a b", "https://*.example.com", "https://a,https://b", "https://user@a"}) {
    EXPECT_THROW((void)cors({.origins = {wrong}}), std::invalid_argument) << wrong;
  }
  EXPECT_THROW((void)cors({.origins = {"*"}, .headers = {"a b"}}), std::invalid_argument);
  EXPECT_THROW((void)cors({.origins = {"*"}, .exposed = {""}}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
