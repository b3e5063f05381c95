// SPDX-License-Identifier: MIT
#include "proxy/server_url.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace skua::proxy {
namespace {

TEST(ServerUrl, HasANameForPeople) {
  EXPECT_EQ(ServerUrl::parse("http://Example.com").name(), "example.com:80");
  EXPECT_EQ(ServerUrl::parse("https://example.com/x").name(), "example.com:443");
  EXPECT_EQ(ServerUrl::parse("h2c://[::1]:3000").name(), "[::1]:3000");
  EXPECT_EQ(ServerUrl::parse("unix:/run/x").name(), "unix:/run/x");
}

TEST(ServerUrl, SaysWhetherItHasToBeLookedUp) {
  EXPECT_TRUE(ServerUrl::parse("http://example.com").has_name());
  for (const char* const text :
       {"http://10.0.0.1", "http://[::1]", "http://localhost:1", "http://a.localhost", "unix:/x"}) {
    EXPECT_FALSE(ServerUrl::parse(text).has_name()) << text;
  }
}

TEST(ServerUrl, PriorKnowledgeIsAScheme) {
  const ServerUrl server = ServerUrl::parse("h2c://a:81/v2/");
  EXPECT_TRUE(server.is_http2);
  EXPECT_EQ(server.url.to_string(), "http://a:81/v2/");
  EXPECT_EQ(server.base, "/v2");
  EXPECT_FALSE(ServerUrl::parse("http://a").is_http2);
}

TEST(ServerUrl, AnyOtherSchemeIsRefused) {
  for (const char* const text : {"h2://a", "a", "h2c://", "h2c://u@a", "h2c:///x", "unix:x"}) {
    EXPECT_THROW(static_cast<void>(ServerUrl::parse(text)), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace skua::proxy
