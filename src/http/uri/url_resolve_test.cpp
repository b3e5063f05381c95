// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "http/uri/url_parts.hpp"
#include "skua/url.hpp"

namespace skua {
namespace {

std::string resolved(std::string_view base, std::string_view reference) {
  const Result<Url> parsed = Url::parse(base);
  if (!parsed) return "the base is refused";
  const Result<Url> target = parsed->resolve(reference);
  return target ? target->to_string() : "refused";
}

std::string normalised(std::string_view text) {
  const Result<Url> parsed = Url::parse(text);
  if (!parsed) return "refused";
  const Url once = parsed->normalised();
  EXPECT_EQ(once.normalised(), once) << text;
  EXPECT_EQ(Url::parse(once.to_string()).value(), once) << text;
  return once.to_string();
}

TEST(UrlResolve, GivesTheNormalExamplesOfTheStandard) {
  // RFC 3986 §5.4.1
  const std::vector<std::pair<const char*, const char*>> table = {
      {"g:h", "g:h"},
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q#s"},
      {"g#s", "http://a/b/c/g#s"},
      {"g?y#s", "http://a/b/c/g?y#s"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"g;x?y#s", "http://a/b/c/g;x?y#s"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../", "http://a/"},
      {"../../g", "http://a/g"},
  };
  for (const auto& [reference, target] : table) {
    EXPECT_EQ(resolved("http://a/b/c/d;p?q", reference), target) << reference;
  }
}

TEST(UrlResolve, GivesTheAbnormalExamplesOfTheStandard) {
  // RFC 3986 §5.4.2; the last one as in strict parsers
  const std::vector<std::pair<const char*, const char*>> table = {
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {".g", "http://a/b/c/.g"},
      {"g..", "http://a/b/c/g.."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/./h", "http://a/b/c/g/h"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/./y", "http://a/b/c/g;x=1/y"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/./x", "http://a/b/c/g?y/./x"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/./x", "http://a/b/c/g#s/./x"},
      {"g#s/../x", "http://a/b/c/g#s/../x"},
      {"http:g", "http:g"},
  };
  for (const auto& [reference, target] : table) {
    EXPECT_EQ(resolved("http://a/b/c/d;p?q", reference), target) << reference;
  }
}

TEST(UrlResolve, KeepsOrDropsWhatBelongsToTheServer) {
  EXPECT_EQ(resolved("http://u:p@a:81/b", "c"), "http://u:p@a:81/c");
  EXPECT_EQ(resolved("http://u:p@a:81/b", "//c"), "http://c");
  EXPECT_EQ(resolved("http://u:p@a:81/b", "http://a:81/"), "http://a:81/");
  EXPECT_EQ(resolved("http://a", "b"), "http://a/b");
  EXPECT_EQ(resolved("http://a?q", "?"), "http://a?");
  EXPECT_EQ(resolved("mailto:a", "b"), "mailto:b");
  EXPECT_EQ(resolved("urn:a:b", "#c"), "urn:a:b#c");
}

TEST(UrlResolve, NeverMakesAnAuthorityOutOfAPath) {
  EXPECT_EQ(resolved("x:/a", "/.//evil.example/"), "x:/.//evil.example/");
  EXPECT_EQ(resolved("x:/a/b", "..//evil.example/"), "x:/.//evil.example/");
  EXPECT_EQ(resolved("http://a/b", "/.//c"), "http://a//c");
}

TEST(UrlResolve, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(resolved("/a", "b"), "refused");
  EXPECT_EQ(resolved("http://a/", "http:\\\\b"), "refused");
  EXPECT_EQ(resolved("http://a/", "///b"), "refused");
  EXPECT_EQ(resolved("http://a/", "//127.1/"), "refused");
  EXPECT_EQ(resolved("x://a/", "//127.1/"), "x://127.1/");
  const std::string half(Url::max_bytes / 2, 'a');
  EXPECT_EQ(resolved("http://a/" + half + "/", half), "refused");
}

TEST(UrlResolve, RemovesDotSegmentsInOnePass) {
  // RFC 3986 §5.2.4
  EXPECT_EQ(http::remove_dot_segments("/a/b/c/./../../g"), "/a/g");
  EXPECT_EQ(http::remove_dot_segments("mid/content=5/../6"), "mid/6");
  std::string deep;
  for (int i = 0; i < 10000; ++i) deep += "/a";
  for (int i = 0; i < 10000; ++i) deep += "/..";
  EXPECT_EQ(http::remove_dot_segments(deep), "/");
}

TEST(UrlNormalised, IsOneTextForAllThatMeanTheSame) {
  EXPECT_EQ(normalised("HTTP://www.EXAMPLE.com:80"), "http://www.example.com/");
  EXPECT_EQ(normalised("https://a:443?q"), "https://a/?q");
  EXPECT_EQ(normalised("http://a:/"), "http://a/");
  EXPECT_EQ(normalised("http://a:0081/"), "http://a:81/");
  EXPECT_EQ(normalised("http://a/%7Eb/%c3%bc%2f%41"), "http://a/~b/%C3%BC%2FA");
  EXPECT_EQ(normalised("http://a/b/./../c/%2e%2E/d/."), "http://a/d/");
  EXPECT_EQ(normalised("http://%41%c3%BC/?%41%2b#%42%2b"), "http://a%C3%BC/?A%2B#B%2B");
  EXPECT_EQ(normalised("http://%75:P%3a@a/"), "http://u:P%3A@a/");
  EXPECT_EQ(normalised("http://[2001:DB8:0::1]/"), "http://[2001:db8::1]/");
  EXPECT_EQ(normalised("http://[FE80::1%25Eth%2d0]/"), "http://[fe80::1%25Eth-0]/");
  EXPECT_EQ(normalised("x://[V1.A]"), "x://[v1.a]");
  // RFC 3986 §6.2.2
  EXPECT_EQ(normalised("eXAMPLE://a/./b/../b/%63/%7bfoo%7d"), "example://a/b/c/%7Bfoo%7D");
}

TEST(UrlNormalised, LeavesWhatMatters) {
  EXPECT_EQ(normalised("../a/./b"), "../a/./b");
  EXPECT_EQ(normalised("x://a"), "x://a");
  EXPECT_EQ(normalised("x:/.//a"), "x:/.//a");
  EXPECT_EQ(normalised("x:/a/..//b"), "x:/.//b");
  EXPECT_EQ(normalised("http://a//b/"), "http://a//b/");
  EXPECT_EQ(normalised("http://a/?"), "http://a/?");
  EXPECT_EQ(normalised("mailto:A@B"), "mailto:A@B");
  EXPECT_EQ(normalised("x:a/./b"), "x:a/b");  // as resolve() does
  EXPECT_EQ(normalised(""), "");
}

}  // namespace
}  // namespace skua
