// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "http/message/request_parts.hpp"
#include "skua/middleware.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

Response finish(const SecurityHeadersOptions& options, Response response = "x",
                bool is_secure = false) {
  FakeRequest fake("GET /");
  http::RequestParts parts = http::RequestAccess::parts(fake.request());
  parts.is_secure = is_secure;
  const Request request(parts);
  security_headers(options)(request, response);
  return response;
}

TEST(SecurityHeadersTest, AreStrictByThemselves) {
  EXPECT_EQ(finish({}).lines().wire(),
            "X-Content-Type-Options: nosniff\r\n"
            "Referrer-Policy: strict-origin-when-cross-origin\r\n"
            "X-Frame-Options: DENY\r\n"
            "Cross-Origin-Opener-Policy: same-origin\r\n"
            "Cross-Origin-Resource-Policy: same-origin\r\n");
}

TEST(SecurityHeadersTest, SpeakOfTlsOverTlsOnly) {
  const auto strict = [](const SecurityHeadersOptions& options, bool is_secure) {
    const Response response = finish(options, "x", is_secure);
    return std::string(response.header("Strict-Transport-Security").value_or("nothing"));
  };
  EXPECT_EQ(strict({}, false), "nothing");
  EXPECT_EQ(strict({}, true), "max-age=15552000");
  EXPECT_EQ(strict({.strict_transport = std::chrono::seconds(0)}, true), "nothing");
  EXPECT_EQ(
      strict({.strict_transport = std::chrono::seconds(60), .strict_transport_subdomains = true},
             true),
      "max-age=60; includeSubDomains");
}

TEST(SecurityHeadersTest, LeaveWhatTheHandlerSaid) {
  const Response response = finish({.content_security_policy = "default-src 'self'"},
                                   Response("x").header("x-frame-options", "SAMEORIGIN"));
  EXPECT_EQ(response.header("X-Frame-Options"), "SAMEORIGIN");
  EXPECT_EQ(response.header("Content-Security-Policy"), "default-src 'self'");
  EXPECT_EQ(response.lines().find("X-Frame-Options", 1), std::nullopt);
}

TEST(SecurityHeadersTest, AnEmptyTextLeavesAFieldOut) {
  EXPECT_EQ(finish({.nosniff = false,
                    .referrer_policy = "",
                    .frame_options = "",
                    .permissions_policy = "geolocation=()",
                    .cross_origin_opener_policy = "",
                    .cross_origin_resource_policy = ""})
                .lines()
                .wire(),
            "Permissions-Policy: geolocation=()\r\n");
}

TEST(SecurityHeadersTest, APreparedResponseStaysPrepared) {
  const PreparedResponse prepared("x");
  EXPECT_EQ(finish({}, prepared).prepared(), &prepared);
}

TEST(SecurityHeadersTest, RefuseWhatNoFieldCanSay) {
  EXPECT_THROW((void)security_headers({.referrer_policy = "a\r\nb"}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
