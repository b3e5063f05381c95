// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <chrono>
#include <string>

#include "http/cookie/set_cookie.hpp"
#include "skua/cookie.hpp"

namespace skua {
namespace {

using namespace std::chrono_literals;
using std::chrono::sys_seconds;

SetCookie read(std::string_view field) {
  Result<SetCookie> cookie = SetCookie::parse(field);
  EXPECT_TRUE(cookie) << field;
  return cookie ? *std::move(cookie) : SetCookie{};
}

TEST(SetCookie, ReadsEveryAttribute) {
  const SetCookie cookie = read(
      "SID=31d4d96e407aad42; Path=/x; Domain=.Example.COM; Secure; HttpOnly; Max-Age=60; "
      "Expires=Sun, 06 Nov 1994 08:49:37 GMT; SameSite=Strict; Partitioned");
  EXPECT_EQ(cookie.name, "SID");
  EXPECT_EQ(cookie.value, "31d4d96e407aad42");
  EXPECT_EQ(cookie.path, "/x");
  EXPECT_EQ(cookie.domain, "example.com");
  EXPECT_EQ(cookie.max_age, 60s);
  EXPECT_EQ(cookie.expires, sys_seconds(784111777s));
  EXPECT_EQ(cookie.same_site, SameSite::Strict);
  EXPECT_TRUE(cookie.secure && cookie.http_only && cookie.partitioned);
  SetCookie bare;
  bare.name = "a";
  bare.value = "b";
  EXPECT_EQ(read("a=b"), bare);
}

TEST(SetCookie, ReadsNamesAndValuesAsBrowsersDo) {
  const auto pair = [](std::string_view field) {
    const SetCookie cookie = read(field);
    return cookie.name + "->" + cookie.value;
  };
  EXPECT_EQ(pair(" a \t= b c\t; x"), "a->b c");
  EXPECT_EQ(pair("a=b=c"), "a->b=c");
  EXPECT_EQ(pair("a="), "a->");
  EXPECT_EQ(pair("=b"), "->b");
  EXPECT_EQ(pair("b"), "->b");
  EXPECT_EQ(pair("a=\"b\""), "a->\"b\"");
  EXPECT_EQ(pair("\xc3\xbc=\xff"), "\xc3\xbc->\xff");
}

TEST(SetCookie, SkipsAttributesThatMakeNoSense) {
  SetCookie bare;
  bare.name = "a";
  bare.value = "b";
  for (const char* const field : {"a=b;",
                                  "a=b;;;",
                                  "a=b; ",
                                  "a=b; foo; bar=x",
                                  "a=b; Expires=tomorrow",
                                  "a=b; Expires",
                                  "a=b; Max-Age=",
                                  "a=b; Max-Age=-",
                                  "a=b; Max-Age=1x",
                                  "a=b; Max-Age=+1",
                                  "a=b; Max-Age=1.5",
                                  "a=b; Path=x",
                                  "a=b; Path=",
                                  "a=b; Path",
                                  "a=b; Domain=",
                                  "a=b; Domain=.",
                                  "a=b; Domain",
                                  "a=b; SameSite=x",
                                  "a=b; SameSite",
                                  "a=b; Path=/x; Path=y",
                                  "a=b; Domain=x; Domain=",
                                  "a=b; SameSite=Lax; SameSite=x",
                                  "a=b; =Secure",
                                  "a=b; Secured"}) {
    EXPECT_EQ(read(field), bare) << field;
  }
  EXPECT_EQ(read("a=b; Path=/" + std::string(1024, 'x')), bare);
  EXPECT_EQ(read("a=b; Path=/" + std::string(1023, 'x')).path.size(), 1024U);
}

TEST(SetCookie, TakesTheLastOfARepeatedAttribute) {
  const SetCookie cookie =
      read("a=b;PATH=/x;path = /y ;max-age=1;Max-Age=x;Max-Age=2;secure=no;samesite=NONE");
  EXPECT_EQ(cookie.path, "/y");
  EXPECT_EQ(cookie.max_age, 2s);
  EXPECT_TRUE(cookie.secure);
  EXPECT_EQ(cookie.same_site, SameSite::None);
}

TEST(SetCookie, IsIgnoredAsAWhole) {
  for (const char* const field :
       {"", "=", " = ; Path=/", ";a=b", "a\r\nb=c", "a=b\x01", "a=b; Path=/\x7f",
        "a=b; SameSite=None", "a=b; Partitioned", "__Secure-a=b", "__secure-a=b; Path=/",
        "__Host-a=b; Secure", "__Host-a=b; Path=/", "__Host-a=b; Secure; Path=/x",
        "__HOST-a=b; Secure; Path=/; Domain=example.com", "=__Host-a=b; Secure; Path=/",
        "__host-a; Secure; Path=/", "=__Secure-a; Secure"}) {
    EXPECT_FALSE(SetCookie::parse(field)) << field;
    EXPECT_EQ(SetCookie::parse(field).error().code(), Errc::MalformedCookie);
  }
  EXPECT_FALSE(SetCookie::parse(std::string_view("a=b\0c", 5)));
  EXPECT_TRUE(SetCookie::parse("a=" + std::string(4095, 'b')));
  EXPECT_FALSE(SetCookie::parse("a=" + std::string(4096, 'b')));
  EXPECT_TRUE(SetCookie::parse("__Host-a=b; Secure; Path=/"));
  EXPECT_TRUE(SetCookie::parse("__Host-a=b; Secure; Path=/; Domain="));
  EXPECT_TRUE(SetCookie::parse("__Secure-a=b; Secure"));
}

TEST(SetCookie, EndsAfterFourHundredDaysAtTheLatest) {
  const sys_seconds now(1'700'000'000s);
  const sys_seconds latest = now + std::chrono::days(400);
  EXPECT_EQ(read("a=b").expiry(now), std::nullopt);
  EXPECT_EQ(read("a=b; Max-Age=5").expiry(now), now + 5s);
  EXPECT_EQ(read("a=b; Max-Age=5; Expires=Sun, 06 Nov 1994 08:49:37 GMT").expiry(now), now + 5s);
  EXPECT_EQ(read("a=b; Expires=Sun, 06 Nov 1994 08:49:37 GMT").expiry(now),
            sys_seconds(784111777s));
  EXPECT_EQ(read("a=b; Max-Age=0").expiry(now), sys_seconds{});
  EXPECT_EQ(read("a=b; Max-Age=-99999999999999999999").expiry(now), sys_seconds{});
  EXPECT_EQ(read("a=b; Max-Age=99999999999999999999").expiry(now), latest);
  EXPECT_EQ(read("a=b; Expires=1 Jan 9999 00:00:00").expiry(now), latest);
}

TEST(SetCookie, ReadsBackWhatWasFormatted) {
  const CookieOptions options{.max_age = 1h,
                              .path = "/x",
                              .domain = "example.com",
                              .same_site = SameSite::None,
                              .partitioned = true,
                              .expires = sys_seconds(784111777s)};
  const SetCookie cookie = read(format_set_cookie("a", "b", options));
  EXPECT_EQ(cookie, read(format_set_cookie("a", "b", options, CookieForm::Rfc6265)));
  EXPECT_EQ(cookie.domain, "example.com");
  EXPECT_EQ(cookie.max_age, 1h);
  EXPECT_EQ(read(format_set_cookie("a", "b", options, CookieForm::Netscape)).expires,
            cookie.expires);
}

}  // namespace
}  // namespace skua

namespace skua::http {
namespace {

using namespace std::chrono;

TEST(CookieDate, ReadsWhatServersWrite) {
  const sys_seconds time = sys_days(1994y / November / 6) + 8h + 49min + 37s;
  for (const char* const text :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994", "Sun, 06-Nov-1994 08:49:37 GMT", "6 nov 94 8:49:37",
        "08:49:37 1994 NOVEMBER 06", "06 Nov 1994 08:49:37 +0100", "Nov/06/94,08:49:37",
        "  6th november  1994AD 08:49:37.123z  ", "1994 06 Nov 08:49:37",
        "\t06;Nov;1994;8:49:37"}) {
    EXPECT_EQ(parse_cookie_date(text), time) << text;
  }
}

TEST(CookieDate, TakesTheFirstOfEachKind) {
  const sys_seconds time = sys_days(2006y / January / 2) + 3h + 4min + 5s;
  EXPECT_EQ(parse_cookie_date("2 Jan 2006 03:04:05 7 Feb 2010 01:02:03"), time);
}

TEST(CookieDate, KnowsTheCenturyOfTwoDigits) {
  const auto year_of = [](const char* text) {
    return static_cast<int>(year_month_day(floor<days>(*parse_cookie_date(text))).year());
  };
  EXPECT_EQ(year_of("1 Jan 70 00:00:00"), 1970);
  EXPECT_EQ(year_of("1 Jan 99 00:00:00"), 1999);
  EXPECT_EQ(year_of("1 Jan 00 00:00:00"), 2000);
  EXPECT_EQ(year_of("1 Jan 69 00:00:00"), 2069);
  EXPECT_EQ(year_of("1 Jan 1601 00:00:00"), 1601);
}

TEST(CookieDate, RefusesWhatIsNoDate) {
  for (const char* const text : {"",
                                 "tomorrow",
                                 "06 Nov 1994",
                                 "Nov 1994 08:49:37",
                                 "06 1994 08:49:37",
                                 "06 Nov 08:49:37",
                                 "30 Feb 1994 08:49:37",
                                 "32 Nov 1994 08:49:37",
                                 "0 Nov 1994 08:49:37",
                                 "06 Nov 1600 08:49:37",
                                 "06 Nov 1994 24:00:00",
                                 "06 Nov 1994 23:60:00",
                                 "06 Nov 1994 23:59:60",
                                 "06 Nov 1994 123:00:00",
                                 "06 Nov 1994 1:2",
                                 "06 Nov 19940 1:2:3",
                                 "006 Nov 1994 1:2:3",
                                 "06 Nov 1 1:2:3",
                                 "06 No 1994 1:2:3",
                                 "06 Nov 1994 1:2:345"}) {
    EXPECT_EQ(parse_cookie_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace skua::http
