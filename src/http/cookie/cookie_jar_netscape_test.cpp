// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "skua/cookie_jar.hpp"

namespace skua {
namespace {

using std::chrono::sys_seconds;

constexpr sys_seconds now{1'800'000'000s};

Url url(std::string_view text) { return Url::parse(text).value(); }

std::string without_comments(std::string_view text) {
  return std::string(text.substr(text.find("\n\n") + 2));
}

TEST(CookiesTxt, IsWrittenAsCurlDoes) {
  CookieJar jar;
  static_cast<void>(jar.store(url("https://www.example.com/x/y"), "a=1", now));
  static_cast<void>(
      jar.store(url("https://www.example.com/"), "b=2; Domain=example.com; HttpOnly", now));
  static_cast<void>(jar.store(url("https://example.com/"), "c=; Secure; Max-Age=10", now));
  static_cast<void>(jar.store(url("http://[::1]/"), "nameless", now));
  static_cast<void>(jar.store(url("http://127.0.0.1/"), "gone=1; Max-Age=1", now));
  const std::string text = jar.to_netscape(now + 1s);
  EXPECT_TRUE(text.starts_with("# Netscape HTTP Cookie File\n"));
  EXPECT_EQ(without_comments(text),
            "www.example.com\tFALSE\t/x\tFALSE\t0\ta\t1\n"
            "#HttpOnly_.example.com\tTRUE\t/\tFALSE\t0\tb\t2\n"
            "example.com\tFALSE\t/\tTRUE\t1800000010\tc\t\n"
            "::1\tFALSE\t/\tFALSE\t0\t\tnameless\n");
}

TEST(CookiesTxt, IsReadAsCurlWritesIt) {
  CookieJar jar;
  const CookieFileReport report = jar.add_netscape(
      "# Netscape HTTP Cookie File\r\n"
      "# https://curl.se/docs/http-cookies.html\r\n"
      "\r\n"
      ".www.example.com\tTRUE\t/x/y/\tFALSE\t0\tg\t7\r\n"
      "#HttpOnly_www.example.com\tFALSE\t/x/y/\tFALSE\t1800000100\tb\t2\r\n"
      "www.example.com\tFALSE\t/\tTRUE\t1800000100\tc\t\r\n"
      "www.example.com\tFALSE\t/\tFALSE\t1799999999\told\t1\r\n"
      "::1\tFALSE\t/x/\tfalse\t\tf\t9",
      now);
  EXPECT_EQ(report.kept, 4);
  EXPECT_EQ(report.expired, 1);
  EXPECT_EQ(report.refused, 0);
  EXPECT_TRUE(report.lines.empty());
  EXPECT_EQ(jar.field_for(url("https://www.example.com/x/y/z"), now), "g=7; b=2; c=");
  EXPECT_EQ(jar.field_for(url("http://a.www.example.com/x/y/z"), now), "g=7");
  EXPECT_EQ(jar.field_for(url("http://[::1]/x/"), now), "f=9");
  EXPECT_TRUE(jar.cookies(now)[1].http_only);
  EXPECT_FALSE(jar.cookies(now)[0].expires);
}

TEST(CookiesTxt, LosesNothingButSameSite) {
  CookieJar jar;
  for (const char* const host : {"https://www.example.com/a/b", "https://[fe80::1%25eth0]/",
                                 "https://127.0.0.1:8443/", "https://localhost"}) {
    for (const char* const field :
         {"a=1", "a=2; Path=/", "b=\"x y\"; Secure; HttpOnly", "c=\xff; Max-Age=7", "=d=e",
          "#f=g; Path=/\xc3\xbc b", "h=; Domain=example.com", "__Host-i=j; Secure; Path=/"}) {
      static_cast<void>(jar.store(url(host), field, now));
    }
  }
  EXPECT_EQ(jar.size(), 8 + 3 * 6);  // without a domain, a=2 replaces a=1
  CookieJar read;
  const CookieFileReport report = read.add_netscape(jar.to_netscape(now), now);
  EXPECT_EQ(report.kept, jar.size());
  EXPECT_EQ(report.refused, 0);
  EXPECT_EQ(read.cookies(now), jar.cookies(now));
  EXPECT_EQ(read.to_netscape(now), jar.to_netscape(now));
}

TEST(CookiesTxt, TellsWhichLinesAreBad) {
  CookieJar jar;
  const CookieFileReport report = jar.add_netscape(
      "good.example\tFALSE\t/\tFALSE\t0\ta\tb\n"
      "no tabs\n"
      "example.com\tFALSE\t/\tFALSE\t0\n"
      "example.com\tFALSE\t/\tFALSE\t0\ta\tb\tc\n"
      "\n"
      "example.com\tMAYBE\t/\tFALSE\t0\ta\tb\n"
      "example.com\tFALSE\t/\t1\t0\ta\tb\n"
      "example.com\tFALSE\t/\tFALSE\tsoon\ta\tb\n"
      "example.com\tFALSE\t/\tFALSE\t-1\ta\tb\n"
      "example.com\tFALSE\tx\tFALSE\t0\ta\tb\n"
      "exam ple.com\tFALSE\t/\tFALSE\t0\ta\tb\n"
      "example.com\tFALSE\t/\tFALSE\t0\ta;c\tb\n"
      "example.com\tFALSE\t/\tFALSE\t0\t__Host-a\tb\n"
      "#HttpOnly_\n"
      "example.com\tFALSE\t/\tFALSE\t0\t\t\n"
      "last.example\tFALSE\t/\tFALSE\t99999999999999999999999\ta\n",
      now);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.refused, 13);
  std::vector<std::size_t> numbers;
  for (const CookieFileReport::Line& line : report.lines) {
    numbers.push_back(line.number);
    EXPECT_EQ(line.reason.code(), Errc::MalformedCookie);
  }
  EXPECT_EQ(numbers, (std::vector<std::size_t>{2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(report.lines[0].reason.context(), "cookies.txt: not seven fields");
  EXPECT_EQ(jar.field_for(url("http://last.example/"), now), "a=");
  EXPECT_EQ(jar.cookies(now)[1].expires, now + std::chrono::days(400));
}

TEST(CookiesTxt, ManyBadLinesAreCounted) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "x\n";
  const CookieFileReport report = CookieJar().add_netscape(text, now);
  EXPECT_EQ(report.refused, 1000);
  EXPECT_EQ(report.lines.size(), CookieFileReport::max_lines);
}

TEST(CookiesTxt, AddsToWhatIsThere) {
  CookieJar jar;
  static_cast<void>(jar.store(url("http://example.com/"), "a=1", now));
  static_cast<void>(jar.store(url("http://example.com/"), "b=2", now));
  jar.add_netscape(
      "example.com\tFALSE\t/\tFALSE\t0\ta\t3\n"
      "example.com\tFALSE\t/\tFALSE\t1\tb\t4\n"
      ".com\tTRUE\t/\tFALSE\t0\tc\t5\n",
      now);
  EXPECT_EQ(jar.field_for(url("http://example.com/"), now), "a=3; b=2");
  EXPECT_EQ(jar.field_for(url("http://com/"), now), "c=5");
}

}  // namespace
}  // namespace skua
