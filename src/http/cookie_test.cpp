// SPDX-License-Identifier: MIT
#include "http/cookie.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace skua::http {
namespace {

using namespace std::chrono_literals;

TEST(Cookie, IsFoundByName) {
  EXPECT_EQ(find_cookie("a=b; c=d", "a"), "b");
  EXPECT_EQ(find_cookie("a=b; c=d", "c"), "d");
  EXPECT_EQ(find_cookie("a=b;c=d=e;", "c"), "d=e");
  EXPECT_EQ(find_cookie("a=; a=b", "a"), "");
  EXPECT_EQ(find_cookie("junk; ; a=b", "a"), "b");
  EXPECT_EQ(find_cookie("aa=b", "a"), std::nullopt);
  EXPECT_EQ(find_cookie("A=b", "a"), std::nullopt);
  EXPECT_EQ(find_cookie("", ""), std::nullopt);
}

TEST(Cookie, IsStrictByDefault) {
  EXPECT_EQ(set_cookie("a", "b", {}), "a=b; Path=/; Secure; HttpOnly; SameSite=Lax");
}

TEST(Cookie, CarriesItsAttributes) {
  EXPECT_EQ(set_cookie("a", "\"b\"",
                       {.max_age = 1h, .path = "/x", .domain = "example.com", .http_only = false}),
            "a=\"b\"; Max-Age=3600; Path=/x; Domain=example.com; Secure; SameSite=Lax");
  EXPECT_EQ(
      set_cookie("a", "",
                 {.max_age = -1s, .path = "", .secure = false, .same_site = SameSite::Strict}),
      "a=; Max-Age=0; HttpOnly; SameSite=Strict");
  EXPECT_EQ(set_cookie("__Host-a", "b", {.same_site = SameSite::None}),
            "__Host-a=b; Path=/; Secure; HttpOnly; SameSite=None");
}

TEST(Cookie, SaysExpiresBesideMaxAge) {
  const std::chrono::sys_seconds time{784111777s};
  EXPECT_EQ(set_cookie("a", "b", {.max_age = 60s, .expires = time + 900ms}),
            "a=b; Max-Age=60; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/; Secure; HttpOnly; "
            "SameSite=Lax");
}

TEST(Cookie, IsPartitionedOnlyWhenSecure) {
  EXPECT_EQ(set_cookie("a", "b", {.same_site = SameSite::None, .partitioned = true}),
            "a=b; Path=/; Secure; HttpOnly; SameSite=None; Partitioned");
  EXPECT_THROW((void)set_cookie("a", "b", {.secure = false, .partitioned = true}),
               std::invalid_argument);
}

TEST(Cookie, RefusesWhatABrowserWouldReadDifferently) {
  for (const char* const name : {"", "a b", "a=", "a;", "a\r\n", "\"a\""}) {
    EXPECT_THROW((void)set_cookie(name, "b", {}), std::invalid_argument) << name;
  }
  for (const char* const value :
       {"a b", "a;b", "a,b", "a\"b", "a\\b", "a\r\nb", "\x01", "\xc3\xbc", "\""}) {
    EXPECT_THROW((void)set_cookie("a", value, {}), std::invalid_argument) << value;
  }
  EXPECT_THROW((void)set_cookie("a", "b", {.path = "/; Domain=x"}), std::invalid_argument);
  EXPECT_THROW((void)set_cookie("a", "b", {.path = "/\r\n"}), std::invalid_argument);
  EXPECT_THROW((void)set_cookie("a", "b", {.domain = "x; Secure"}), std::invalid_argument);
  EXPECT_THROW((void)set_cookie("a", "b", {.secure = false, .same_site = SameSite::None}),
               std::invalid_argument);
  EXPECT_THROW((void)set_cookie("__Secure-a", "b", {.secure = false}), std::invalid_argument);
  EXPECT_THROW((void)set_cookie("__host-a", "b", {.path = "/x"}), std::invalid_argument);
  EXPECT_THROW((void)set_cookie("__Host-a", "b", {.domain = "example.com"}), std::invalid_argument);
}

}  // namespace
}  // namespace skua::http
