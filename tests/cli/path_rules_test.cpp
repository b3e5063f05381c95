// SPDX-License-Identifier: MIT
#include "serve/site/path_rules.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace skua::cli {
namespace {

TEST(StarPath, MatchesByItsBeginningAndItsEnd) {
  EXPECT_EQ(StarPath("/old/*").match("/old/a/b"), "a/b");
  EXPECT_EQ(StarPath("/old/*").match("/old/"), "");
  EXPECT_EQ(StarPath("/old/*").match("/old"), std::nullopt);
  EXPECT_EQ(StarPath("/*.htm").match("/a/b.htm"), "a/b");
  EXPECT_EQ(StarPath("/aa*aa").match("/aaa"), std::nullopt);  // its ends do not overlap
  EXPECT_EQ(StarPath("/aa*aa").match("/aaaa"), "");
  EXPECT_EQ(StarPath("/a").match("/a"), "");
  EXPECT_EQ(StarPath("/a").match("/ab"), std::nullopt);
  EXPECT_EQ(StarPath("/x/*.html").fill("a"), "/x/a.html");
  EXPECT_EQ(StarPath("/x").fill("a"), "/x");
  EXPECT_THROW(StarPath("/*/*"), std::invalid_argument);
}

TEST(StarPath, KnowsWhetherAPathMatchesBoth) {
  const auto overlap = [](const char* one, const char* other) {
    const bool result = StarPath(one).overlaps(StarPath(other));
    EXPECT_EQ(StarPath(other).overlaps(StarPath(one)), result);
    return result;
  };
  EXPECT_TRUE(overlap("/a/*", "/*"));
  EXPECT_TRUE(overlap("/a*", "/*b"));
  EXPECT_TRUE(overlap("/a", "/a"));
  EXPECT_TRUE(overlap("/a/b", "/a/*"));
  EXPECT_FALSE(overlap("/a/*", "/b/*"));
  EXPECT_FALSE(overlap("/*.html", "/*.htm"));
  EXPECT_FALSE(overlap("/a", "/b"));
}

std::string location(const std::string& rule, std::string_view path, std::string_view query = "") {
  std::vector<RedirectRule> rules;
  add_redirect_rule(rules, rule);
  return rules.front().location(path, query).value_or("<none>");
}

TEST(RedirectRule, MakesLocations) {
  EXPECT_EQ(location("/old/*=/new/*", "/old/a b", "x=1"), "/new/a%20b?x=1");
  EXPECT_EQ(location("/old/*=/new/*", "/new/a"), "<none>");
  EXPECT_EQ(location("/a=/b?c=d", "/a", "x=1"), "/b?c=d");
  EXPECT_EQ(location("/a=/#/route", "/a", "x=1"), "/#/route");
  EXPECT_EQ(location("/*.htm=/*.html", "/x/y.htm"), "/x/y.html");
  EXPECT_EQ(location("/to/*=https://example.com/*", "/to/x", "q"), "https://example.com/x?q");
  EXPECT_EQ(location("/out=https://example.com", "/out"), "https://example.com");
}

TEST(RedirectRule, LetsNoClientChooseTheHost) {
  EXPECT_EQ(location("/old*=/*", "/old/evil.example"), "/evil.example");
  EXPECT_EQ(location("/old*=/*", "/old//evil.example"), "/evil.example");
  EXPECT_EQ(location("/old*=/*", "/old\\evil.example"), "/%5Cevil.example");
  EXPECT_EQ(location("/old*=/*", "/old\r\nSet-Cookie: a"), "/%0D%0ASet-Cookie:%20a");
  EXPECT_EQ(location("/old*=/*", "/old"), "/");
}

TEST(RedirectRule, ClimbsNowhere) {
  EXPECT_EQ(location("/a*=/b/*/c", "/a.."), "<none>");
  EXPECT_EQ(location("/a*=/b/*", "/a."), "<none>");
  EXPECT_EQ(location("/a*=/b/%2e*", "/a./x"), "<none>");
  EXPECT_EQ(location("/a*=https://example.com/b/*/c", "/a.."), "<none>");
  EXPECT_EQ(location("/a*=/b/*", "/a..."), "/b/...");
  EXPECT_EQ(location("/a/*=/b/../c/*", "/a/x"), "/b/../c/x");
}

TEST(RedirectRule, HasAStatus) {
  std::vector<RedirectRule> rules;
  add_redirect_rule(rules, "/a=/b");
  add_redirect_rule(rules, "/c=/d 308");
  EXPECT_EQ(rules[0].status, Status::Found);
  EXPECT_EQ(rules[1].status, Status::PermanentRedirect);
  for (const char* text : {"/a=/b 200", "/a=/b 304", "/a=/b x", "/a=/b ", "/a=/b c 301"}) {
    EXPECT_THROW(add_redirect_rule(rules, text), std::invalid_argument) << text;
  }
}

TEST(RedirectRule, RefusesTargetsThatAreNotPathsOrUrls) {
  for (const char* text : {"/a",
                           "a=/b",
                           "/a=b",
                           "/a=",
                           "=/b",
                           "/a=//evil.example",
                           "/a=/\\evil.example",
                           "/a=javascript:alert(1)",
                           "/a=ftp://x/",
                           "/a=/b\r\nX: y",
                           "/a\r\n=/b",
                           "/a=/b*",
                           "/*=https://example.com*",
                           "/*=https://*.example.com/",
                           "/*=https://example.com/?q=*",
                           "/*=/*/*",
                           "/../a=/b",
                           "/a=/%2fb",
                           "/a//b=/c",
                           "/a/*=http:/*",
                           "/a/*=http:///*",
                           "/a/*=https:*"}) {
    std::vector<RedirectRule> rules;
    EXPECT_THROW(add_redirect_rule(rules, text), std::invalid_argument) << text;
  }
}

TEST(RedirectRule, SendsNobodyInCircles) {
  const std::vector<const char*> circles[] = {
      {"/a=/a"},
      {"/a=/b", "/b=/a"},
      {"/*=/new/*"},
      {"/*/=/*"},
      {"/en/*=/*", "/x=/en/x"},
      {"/a*=/b*", "/b*=/ab*"},
      {"/a=/b", "/b=/c", "/c=/a?x"},
      {"/a=/%61"},
      {"/folder/=/folder"},  // the folder redirects back
      {"/x=/folder", "/folder/=/x"},
      {"/a*=/b/*/c", "/b/c=/a"},  // by way of /b//c
  };
  for (const std::vector<const char*>& circle : circles) {
    std::vector<RedirectRule> rules;
    for (std::size_t i = 0; i + 1 < circle.size(); ++i) add_redirect_rule(rules, circle[i]);
    EXPECT_THROW(add_redirect_rule(rules, circle.back()), std::invalid_argument) << circle.back();
  }
  EXPECT_EQ(location("/en/*=/*", "/en/en/x"), "/en/x");  // shorter each time
  std::vector<RedirectRule> rules;
  for (const char* text : {"/a=/b", "/b=/c", "/*.htm=/*.html", "/d=https://example.com/d"}) {
    EXPECT_NO_THROW(add_redirect_rule(rules, text)) << text;
  }
}

TEST(RewriteRule, LeadsToPathsBelowTheFolder) {
  const RewriteRule rule = parse_rewrite_rule("/app/*=/index.html");
  EXPECT_TRUE(rule.from.match("/app/x/y"));
  EXPECT_EQ(rule.to.text(), "/index.html");
  EXPECT_EQ(parse_rewrite_rule("/a=/folder/").to.text(), "/folder/");
  for (const char* text : {"/a", "a=/b", "/a=b", "/a=", "/a=/../b", "/a=//b", "/a=/b\r\n", "/a=/b*",
                           "/a=https://example.com/", "/a=/b\\c", "/*=/*/*"}) {
    EXPECT_THROW(parse_rewrite_rule(text), std::invalid_argument) << text;
  }
}

TEST(ErrorPage, IsForAnError) {
  const ErrorPage page = parse_error_page("404=errors/404.html");
  EXPECT_EQ(page.status, Status::NotFound);
  EXPECT_EQ(page.path, "/errors/404.html");
  for (const char* text : {"404", "200=a", "600=a", "x=a", "=a", "404=", "404=../a", "404=a/"}) {
    EXPECT_THROW(parse_error_page(text), std::invalid_argument) << text;
  }
}

TEST(FolderPath, HasASlashAtItsEnd) {
  for (const char* text : {"a/b", "/a/b", "a/b/"}) EXPECT_EQ(folder_path(text), "/a/b/") << text;
  EXPECT_EQ(folder_path("/"), "/");
  for (const char* text : {"..", "a/../b", "a//b", "a/.", "a\\b"}) {
    EXPECT_THROW(folder_path(text), std::invalid_argument) << text;
  }
}

}  // namespace
}  // namespace skua::cli
