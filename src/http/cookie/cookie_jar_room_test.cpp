// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

using std::chrono::sys_seconds;

constexpr sys_seconds now{1'800'000'000s};

Url url(std::string_view text) { return Url::parse(text).value(); }

Result<void> store(CookieJar& jar, std::string_view from, std::string_view field) {
  return jar.store(url(from), field, now);
}

/// Returns the names of all cookies, oldest first.
std::string names(const CookieJar& jar, sys_seconds time = now) {
  std::string all;
  for (const KeptCookie& cookie : jar.cookies(time)) all += cookie.name;
  return all;
}

TEST(CookieJarRoom, WhatWasUsedLastTheLongestTimeAgoGoes) {
  CookieJar jar({.cookies_per_domain = 3});
  for (const char* const field : {"a=1; Path=/a", "b=2; Path=/b", "c=3; Path=/c"}) {
    EXPECT_TRUE(store(jar, "http://example.com/", field));
  }
  EXPECT_EQ(jar.field_for(url("http://example.com/a"), now), "a=1");
  EXPECT_TRUE(store(jar, "http://example.com/", "d=4"));
  EXPECT_EQ(names(jar), "acd");
  EXPECT_TRUE(store(jar, "http://example.com/", "c=5; Path=/c"));  // being set counts as use
  EXPECT_TRUE(store(jar, "http://example.com/", "e=6"));
  EXPECT_EQ(names(jar), "cde");
  EXPECT_TRUE(store(jar, "http://www.example.com/", "f=7"));  // another domain
  EXPECT_EQ(names(jar), "cdef");
}

TEST(CookieJarRoom, WhatHasExpiredGoesFirst) {
  CookieJar jar({.cookies_per_domain = 2});
  EXPECT_TRUE(store(jar, "https://example.com/", "a=1"));
  EXPECT_TRUE(store(jar, "https://example.com/", "b=2; Max-Age=5; Secure"));
  EXPECT_TRUE(jar.store(url("https://example.com/"), "c=3", now + 5s));
  EXPECT_EQ(names(jar), "ac");
}

TEST(CookieJarRoom, WithinADomainWhatIsNotSecureGoesFirst) {
  CookieJar jar({.cookies_per_domain = 2});
  EXPECT_TRUE(store(jar, "https://example.com/", "a=1; Secure"));
  EXPECT_TRUE(store(jar, "https://example.com/", "b=2"));
  EXPECT_TRUE(store(jar, "https://example.com/", "c=3"));
  EXPECT_EQ(names(jar), "ac");
  EXPECT_TRUE(store(jar, "https://example.com/", "d=4; Secure"));
  EXPECT_EQ(names(jar), "ad");
  const Result<void> refused = store(jar, "http://example.com/", "e=5");
  EXPECT_EQ(refused.error().code(), Errc::CookieRefused);
  EXPECT_EQ(refused.error().context(), "cookie: no room in the jar");
  EXPECT_EQ(names(jar), "ad");
  EXPECT_TRUE(store(jar, "https://example.com/", "f=6; Secure"));
  EXPECT_EQ(names(jar), "df");
}

TEST(CookieJarRoom, ThereIsALimitForAll) {
  CookieJar jar({.cookies = 3});
  for (const char* const host : {"a", "b", "c"}) {
    EXPECT_TRUE(store(jar, std::string("https://") + host + ".example/", std::string(host) + "=1"));
  }
  EXPECT_EQ(jar.field_for(url("https://a.example/"), now), "a=1");
  EXPECT_TRUE(store(jar, "https://d.example/", "d=1"));
  EXPECT_EQ(names(jar), "acd");
  EXPECT_EQ(jar.field_for(url("https://b.example/"), now), "");
  // Expired cookies of any domain go first.
  EXPECT_TRUE(store(jar, "https://c.example/", "c=1; Max-Age=1"));
  EXPECT_TRUE(jar.store(url("https://e.example/"), "e=1", now + 1s));
  EXPECT_EQ(names(jar, now + 1s), "ade");
  EXPECT_EQ(jar.size(), 3);
}

TEST(CookieJarRoom, ThereIsALimitOfBytes) {
  CookieJar jar({.size_bytes = 100});
  const auto field = [](std::string name, std::size_t bytes) {
    return name + "=" + std::string(bytes, 'x');
  };
  // Name, value, domain and path: 40 each.
  EXPECT_TRUE(store(jar, "https://ab.cd/", field("a", 33)));
  EXPECT_TRUE(store(jar, "https://ab.cd/", field("b", 33)));
  EXPECT_EQ(names(jar), "ab");
  EXPECT_TRUE(store(jar, "https://ab.cd/", field("b", 53)));
  EXPECT_EQ(names(jar), "ab");
  EXPECT_TRUE(store(jar, "https://ab.cd/", field("b", 54)));
  EXPECT_EQ(names(jar), "b");
  EXPECT_EQ(store(jar, "https://ab.cd/", field("c", 94)).error().context(),
            "cookie: too long for the jar");
  EXPECT_EQ(names(jar), "b");
  EXPECT_TRUE(store(jar, "https://ab.cd/", field("c", 93)));
  EXPECT_EQ(names(jar), "c");
}

TEST(CookieJarRoom, AJarWithoutRoomKeepsNothing) {
  for (const CookieJarOptions& options :
       {CookieJarOptions{.cookies_per_domain = 0}, CookieJarOptions{.cookies = 0},
        CookieJarOptions{.size_bytes = 0}}) {
    CookieJar jar(options);
    EXPECT_EQ(store(jar, "https://example.com/", "a=b").error().code(), Errc::CookieRefused);
    EXPECT_EQ(jar.size(), 0);
    EXPECT_EQ(jar.field_for(url("https://example.com/"), now), "");
  }
}

TEST(CookieJarRoom, TheLimitsHoldWhateverComes) {
  CookieJar jar({.cookies_per_domain = 5, .cookies = 20, .size_bytes = 1000});
  for (int i = 0; i < 1000; ++i) {
    const std::string host = "https://h" + std::to_string(i * 7 % 13) + ".example/";
    const std::string field =
        "c" + std::to_string(i) + "=" + std::string(static_cast<std::size_t>(i) * 31 % 150, 'x') +
        (i % 3 == 0 ? "; Secure" : "") + (i % 5 == 0 ? "; Max-Age=" + std::to_string(i % 10) : "");
    static_cast<void>(jar.store(url(host), field, now + std::chrono::seconds(i)));
    if (i % 4 == 0) static_cast<void>(jar.field_for(url(host), now + std::chrono::seconds(i)));
    EXPECT_LE(jar.size(), 20);
    std::size_t bytes = 0;
    for (const KeptCookie& cookie : jar.cookies(sys_seconds::min())) {
      bytes += cookie.name.size() + cookie.value.size() + cookie.domain.size() + cookie.path.size();
    }
    EXPECT_LE(bytes, 1000);
    EXPECT_EQ(jar.cookies(sys_seconds::min()).size(), jar.size());
  }
}

}  // namespace
}  // namespace skua
