// SPDX-License-Identifier: MIT
#include "http/cookie/cookie.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

std::string listed(std::string_view field) {
  std::string out;
  while (const auto cookie = take_cookie(field)) {
    out.append(cookie->name).append("->").append(cookie->value).append(";");
  }
  return out;
}

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

TEST(Cookie, IsReadAsBrowsersReallySendIt) {
  EXPECT_EQ(listed("a=b; c=d"), "a->b;c->d;");
  EXPECT_EQ(listed(""), "");
  EXPECT_EQ(listed(" ;; ;\t;"), "");
  EXPECT_EQ(listed("a=b;c=d;"), "a->b;c->d;");
  EXPECT_EQ(listed("a=\"b c\""), "a->\"b c\";");
  EXPECT_EQ(listed("a=\"b;c\""), "a->\"b;->c\";");
  EXPECT_EQ(listed("a=b=c==; a=d"), "a->b=c==;a->d;");
  EXPECT_EQ(listed("  a=b c  ;\td= e"), "a->b c;d-> e;");
  EXPECT_EQ(listed("naked; =b; =; c="), "->naked;->b;->;c->;");
  EXPECT_EQ(listed("\xc3\xbc=\xff,%zz{}"), "\xc3\xbc->\xff,%zz{};");
}

TEST(Cookie, WhiteSpaceBeforeTheEqualsSignMakesAnotherName) {
  EXPECT_EQ(find_cookie("session =evil; session=good", "session"), "good");
  EXPECT_EQ(find_cookie("naked; a=b", "naked"), std::nullopt);
}

TEST(Cookie, KnowsThePromiseOfAPrefix) {
  EXPECT_EQ(cookie_prefix("__Host-a"), CookiePrefix::Host);
  EXPECT_EQ(cookie_prefix("__hOST-"), CookiePrefix::Host);
  EXPECT_EQ(cookie_prefix("__SECURE-a"), CookiePrefix::Secure);
  EXPECT_EQ(cookie_prefix("__Host"), CookiePrefix::None);
  EXPECT_EQ(cookie_prefix("_Host-a"), CookiePrefix::None);
  EXPECT_EQ(cookie_prefix(""), CookiePrefix::None);
}

}  // namespace
}  // namespace skua::http
