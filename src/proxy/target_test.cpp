// SPDX-License-Identifier: MIT
#include "proxy/target.hpp"

#include <gtest/gtest.h>

namespace skua::proxy {
namespace {

std::string kept(std::string_view target) { return upstream_target(target, std::nullopt, 1); }
std::string below(std::string_view base, std::string_view target, std::size_t replaced = 1) {
  return upstream_target(target, base, replaced);
}

TEST(UpstreamTarget, IsTheTargetAsSentWithoutABase) {
  EXPECT_EQ(kept("/api/users?x=1"), "/api/users?x=1");
  EXPECT_EQ(kept("/api/"), "/api/");
  EXPECT_EQ(kept("/"), "/");
  EXPECT_EQ(kept("*"), "*");
}

TEST(UpstreamTarget, ABaseReplacesThePrefix) {
  EXPECT_EQ(below("/v2", "/api/users?x=1"), "/v2/users?x=1");
  EXPECT_EQ(below("/v2", "/api"), "/v2");
  EXPECT_EQ(below("/v2", "/api/"), "/v2/");
  EXPECT_EQ(below("/v2", "/a/b/c", 2), "/v2/c");
  EXPECT_EQ(below("/v2", "/x", 0), "/v2/x");
}

TEST(UpstreamTarget, AnEmptyBaseRemovesThePrefix) {
  EXPECT_EQ(below("", "/api/users"), "/users");
  EXPECT_EQ(below("", "/api"), "/");
  EXPECT_EQ(below("", "/api/"), "/");
  EXPECT_EQ(below("", "/api?q"), "/?q");
}

TEST(UpstreamTarget, EncodingsStayAsTheyAre) {
  EXPECT_EQ(kept("/a%2Bb/%c3%a4;v=1+%25"), "/a%2Bb/%c3%a4;v=1+%25");
  EXPECT_EQ(below("/v2", "/%61pi/%7Ex"), "/v2/%7Ex");
}

TEST(UpstreamTarget, TheQueryStaysAsItIs) {
  EXPECT_EQ(kept("/a?b=/../c&d=100%&e=%zz?"), "/a?b=/../c&d=100%&e=%zz?");
  EXPECT_EQ(kept("/a?"), "/a?");
}

TEST(UpstreamTarget, NoDotSegmentIsPassedOn) {
  EXPECT_EQ(kept("/api/../api/x"), "/api/x");
  EXPECT_EQ(kept("/api/./x/."), "/api/x/");
  EXPECT_EQ(kept("/api/x/.."), "/api/");
  EXPECT_EQ(kept("/api/%2e%2E/api/x"), "/api/x");
  EXPECT_EQ(kept("/api/.%2e/api/%2e/x"), "/api/x");
  EXPECT_EQ(below("/v2", "/other/../api/x"), "/v2/x");
  EXPECT_EQ(below("/v2", "/api/x/../y"), "/v2/y");
  EXPECT_EQ(below("/v2", "/api/x/../../api/%2e%2e/api/y/.."), "/v2/");
  EXPECT_EQ(kept("/api/.../..a"), "/api/.../..a");
}

TEST(UpstreamTarget, EmptySegmentsStayUnlessDotSegmentsGo) {
  EXPECT_EQ(kept("//api///x//"), "//api///x//");
  EXPECT_EQ(kept("/api//x/../y"), "/api/y");
  EXPECT_EQ(below("/v2", "/api//x"), "/v2//x");
  EXPECT_EQ(below("", "/api//x"), "//x");
  EXPECT_EQ(below("/v2", "//api//x"), "/v2/x");
  EXPECT_EQ(below("/v2", "/api//b/c", 2), "/v2/c");
}

TEST(UpstreamTarget, AnAbsoluteTargetLosesItsAuthority) {
  EXPECT_EQ(kept("http://example.com/api/x?y"), "/api/x?y");
  EXPECT_EQ(kept("http://example.com"), "/");
}

}  // namespace
}  // namespace skua::proxy
