// SPDX-License-Identifier: MIT
#include "http/cookie_match.hpp"

#include <gtest/gtest.h>

namespace skua::http {
namespace {

TEST(CookieMatch, AHostIsInItsDomainsAndInNoOther) {
  EXPECT_TRUE(domain_matches("example.com", "example.com"));
  EXPECT_TRUE(domain_matches("a.b.example.com", "example.com"));
  EXPECT_TRUE(domain_matches("a.b.example.com", "b.example.com"));
  EXPECT_FALSE(domain_matches("example.com", "a.example.com"));
  EXPECT_FALSE(domain_matches("badexample.com", "example.com"));
  EXPECT_FALSE(domain_matches("example.com.", "example.com"));
  EXPECT_FALSE(domain_matches("example.com", ".com"));
  EXPECT_FALSE(domain_matches("example.com", ""));
  EXPECT_FALSE(domain_matches("", "example.com"));
}

TEST(CookieMatch, APathIsForItselfAndTheFoldersBelowIt) {
  EXPECT_TRUE(path_matches("/", "/"));
  EXPECT_TRUE(path_matches("/a", "/"));
  EXPECT_TRUE(path_matches("/a", "/a"));
  EXPECT_TRUE(path_matches("/a/", "/a"));
  EXPECT_TRUE(path_matches("/a/b", "/a"));
  EXPECT_TRUE(path_matches("/a/b", "/a/"));
  EXPECT_FALSE(path_matches("/ab", "/a"));
  EXPECT_FALSE(path_matches("/a", "/a/"));
  EXPECT_FALSE(path_matches("/A", "/a"));
  EXPECT_FALSE(path_matches("/%61", "/a"));
  EXPECT_FALSE(path_matches("/", "/a"));
}

TEST(CookieMatch, TheDefaultPathIsTheFolderOfTheRequest) {
  EXPECT_EQ(default_cookie_path("/a/b"), "/a");
  EXPECT_EQ(default_cookie_path("/a/b/"), "/a/b");
  EXPECT_EQ(default_cookie_path("/a//"), "/a/");
  EXPECT_EQ(default_cookie_path("/a"), "/");
  EXPECT_EQ(default_cookie_path("/"), "/");
  EXPECT_EQ(default_cookie_path(""), "/");
  EXPECT_EQ(default_cookie_path("*"), "/");
}

TEST(CookieMatch, ATopLevelDomainHasNoOwner) {
  EXPECT_TRUE(has_owner_label("example.com"));
  EXPECT_TRUE(has_owner_label("a.b.example.com"));
  for (const char* const domain : {"com", "com.", ".com", "example.com.", "a..com", ".", ""}) {
    EXPECT_FALSE(has_owner_label(domain)) << domain;
  }
}

}  // namespace
}  // namespace skua::http
