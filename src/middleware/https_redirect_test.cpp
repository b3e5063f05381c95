// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "http/message/request_parts.hpp"
#include "skua/https_redirect.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

Response ask(const Router& router, std::string_view line, std::string_view host,
             bool is_secure = false) {
  FakeRequest fake(line);
  http::RequestParts parts = http::RequestAccess::parts(fake.request());
  parts.host = host;
  parts.is_secure = is_secure;
  Request request(parts);
  return router.handle(request);
}

std::string location(std::string_view line, std::string_view host, std::uint16_t port = 8443) {
  const Response response = ask(redirect_to_https({.hosts = {"*"}, .port = port}), line, host);
  if (response.status() != Status::PermanentRedirect)
    return std::to_string(code(response.status()));
  return std::string(response.header("Location").value_or("nothing"));
}

TEST(HttpsRedirectTest, KeepsTheHostAndChangesThePort) {
  EXPECT_EQ(location("GET /", "example.com"), "https://example.com:8443/");
  EXPECT_EQ(location("GET /", "example.com:8080"), "https://example.com:8443/");
  EXPECT_EQ(location("GET /", "example.com:"), "https://example.com:8443/");
  EXPECT_EQ(location("GET /", "192.0.2.1:80"), "https://192.0.2.1:8443/");
  EXPECT_EQ(location("GET /", "[2001:db8::1]:80"), "https://[2001:db8::1]:8443/");
  EXPECT_EQ(location("GET /", "[::1]"), "https://[::1]:8443/");
  EXPECT_EQ(location("GET /", "example.com:8080", 443), "https://example.com/");
  EXPECT_EQ(location("GET /", "[::1]:80", 443), "https://[::1]/");
}

TEST(HttpsRedirectTest, KeepsPathAndQueryByteForByte) {
  for (const char* target :
       {"/", "/?", "/a%20b/%C3%A4?c=%2F&d=+", "/a//b/./c", "//evil.example/x", "/@evil.example",
        "/?next=https://evil.example/", "/a:b;c=d,e", "/%7Eme"}) {
    EXPECT_EQ(location(std::string("GET ").append(target), "a.example"),
              std::string("https://a.example:8443").append(target));
  }
}

TEST(HttpsRedirectTest, TakesEveryMethod) {
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}) {
    EXPECT_EQ(location(std::string(method).append(" /x"), "a"), "https://a:8443/x") << method;
  }
}

TEST(HttpsRedirectTest, TakesTheAbsoluteForm) {
  EXPECT_EQ(location("GET http://a.example:80/x?y=z", "a.example:80"),
            "https://a.example:8443/x?y=z");
  EXPECT_EQ(location("GET http://a.example", "a.example"), "https://a.example:8443/");
  EXPECT_EQ(location("GET http://a.example?y", "a.example"), "https://a.example:8443?y");
}

TEST(HttpsRedirectTest, AHostThatIsNoneIsRefused) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view host :
       {""sv, "a b"sv, "a\r\nSet-Cookie: x=y"sv, "a\0b"sv, "a@evil.example"sv, "a/evil.example"sv,
        "a\\evil.example"sv, "a?b"sv, "a#b"sv, "a:b"sv, "a:80@evil.example"sv, "a:99999"sv,
        "[::1"sv, "[::1]evil.example"sv, "[a]"sv, ":80"sv, "a,b"sv, "a%2eb"sv, "\xc3\xa4"sv}) {
    EXPECT_EQ(location("GET /", host), "400") << host;
  }
}

TEST(HttpsRedirectTest, PointsToListedHostsOnly) {
  const Router router =
      redirect_to_https({.hosts = {"Example.com", "*.example.org", "192.0.2.1", "[2001:db8::1]"}});
  for (const std::string_view host : {"example.com", "EXAMPLE.com:80", "example.com.",
                                      "a.example.org", "192.0.2.1:8080", "[2001:DB8::1]"}) {
    EXPECT_EQ(ask(router, "GET /", host).status(), Status::PermanentRedirect) << host;
  }
  for (const std::string_view host :
       {"evil.example", "a.example.com", "example.org", "a.b.example.org", ".example.org",
        "aexample.org", "192.0.2.10", "example.com.evil.example", "*.example.org.evil", "*"}) {
    const Response refused = ask(router, "GET /", host);
    EXPECT_EQ(refused.status(), Status::MisdirectedRequest) << host;
    EXPECT_FALSE(refused.header("Location")) << host;
  }
}

TEST(HttpsRedirectTest, WhatIsNoHostCannotBeListed) {
  EXPECT_THROW((void)redirect_to_https({}), std::invalid_argument);
  for (const char* const wrong : {"", "a:80", "https://a", "a/b", "*", "a.*", "*a", "**", "*.",
                                  "*.*.a", "a.", "u@a", "::1"}) {
    EXPECT_THROW((void)redirect_to_https({.hosts = {"a", wrong}}), std::invalid_argument) << wrong;
  }
}

TEST(HttpsRedirectTest, DoesNotRedirectWhatCameOverTls) {
  const Router router = redirect_to_https({.hosts = {"*"}});
  const Response refused = ask(router, "GET /", "a", true);
  EXPECT_EQ(refused.status(), Status::MisdirectedRequest);
  EXPECT_FALSE(refused.header("Location"));
}

TEST(HttpsOnlyTest, LetsThroughWhatCameOverTls) {
  Router router;
  router.use(https_only({.hosts = {"a.example"}, .port = 8443}));
  router.get("/x", [] { return "hello"; });
  EXPECT_EQ(ask(router, "GET /x", "a.example", true).status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /x", "other.example", true).status(), Status::Ok);
  const Response redirect = ask(router, "GET /x?y=z", "a.example");
  EXPECT_EQ(redirect.status(), Status::PermanentRedirect);
  EXPECT_EQ(redirect.header("Location"), "https://a.example:8443/x?y=z");
  EXPECT_EQ(ask(router, "GET /missing", "a.example").status(), Status::PermanentRedirect);
  EXPECT_EQ(ask(router, "GET /x", "other.example").status(), Status::MisdirectedRequest);
  EXPECT_EQ(ask(router, "GET /x", "a b").status(), Status::BadRequest);
  EXPECT_THROW((void)https_only({}), std::invalid_argument);
}

TEST(HttpsRedirectTest, RoutesThatAreAddedComeFirst) {
  Router router = redirect_to_https({.hosts = {"a"}});
  router.get("/.well-known/acme-challenge/{token}", [](std::string_view token) { return token; });
  EXPECT_EQ(ask(router, "GET /.well-known/acme-challenge/x", "a").status(), Status::Ok);
  EXPECT_EQ(ask(router, "GET /.well-known/other", "a").header("Location"),
            "https://a/.well-known/other");
}

}  // namespace
}  // namespace skua
