// SPDX-License-Identifier: MIT
#include "http/cookie_date.hpp"

#include <gtest/gtest.h>

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
