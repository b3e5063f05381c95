// SPDX-License-Identifier: MIT
#include "base/http_date.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace skua {
namespace {

using namespace std::chrono;

constexpr sys_seconds now{seconds(1'700'000'000)};  // 2023-11-14

std::string formatted(sys_seconds time) {
  std::array<char, http_date_bytes> out;
  format_http_date(time, out);
  return {out.data(), out.size()};
}

TEST(HttpDate, AllThreeFormsOfTheRfcAreTheSameTime) {
  const sys_seconds time{seconds(784111777)};
  EXPECT_EQ(formatted(time), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", now), time);
  EXPECT_EQ(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", now), time);
  EXPECT_EQ(parse_http_date("Sun Nov  6 08:49:37 1994", now), time);
  EXPECT_EQ(parse_http_date("Wed Nov 16 08:49:37 1994", now), time + days(10));
}

TEST(HttpDate, AgreesWithTheCLibraryOverCenturies) {
  for (std::int64_t t = -70'000'000'000; t < 200'000'000'000; t += 86'400 * 17 + 12'345) {
    const std::time_t c_time = t;
    const std::tm* const known = std::gmtime(&c_time);
    if (known == nullptr) continue;  // on Windows, all before 1970
    const std::tm parts = *known;
    if (parts.tm_year + 1900 < 0 || parts.tm_year + 1900 > 9999) continue;
    char wanted[64];
    ASSERT_EQ(std::strftime(wanted, sizeof wanted, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0, true);
    std::string text = wanted;
    text.insert(12, 29 - text.size(), '0');  // strftime does not pad years
    const sys_seconds time{seconds(t)};
    ASSERT_EQ(formatted(time), text);
    ASSERT_EQ(parse_http_date(text, now), time);
  }
}

TEST(HttpDate, TwoDigitsAreNeverMoreThanFiftyYearsAhead) {
  const auto year_of = [](const char* text) {
    return static_cast<int>(year_month_day(floor<days>(*parse_http_date(text, now))).year());
  };
  EXPECT_EQ(year_of("Sunday, 01-Jan-73 00:00:00 GMT"), 2073);
  EXPECT_EQ(year_of("Sunday, 01-Jan-74 00:00:00 GMT"), 1974);
}

TEST(HttpDate, RefusesWhatIsNoDate) {
  for (const char* text :
       {"", "Sun", "Sun,", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
        "Sun, 06 Nov 94 08:49:37 GMT", "Someday, 06-Nov-94 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994 GMT", "Sun, -6 Nov 1994 08:49:37 GMT"}) {
    EXPECT_FALSE(parse_http_date(text, now)) << text;
  }
}

TEST(HttpDate, RefusesADateThatEndsEarly) {
  for (const std::string_view whole :
       {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        "Monday, 07-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"}) {
    ASSERT_TRUE(parse_http_date(whole, now)) << whole;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(parse_http_date(whole.substr(0, size), now)) << whole.substr(0, size);
    }
  }
}

TEST(HttpDate, YearsOutOfRangeAreClamped) {
  EXPECT_EQ(formatted(sys_days(year(12000) / January / 1)), "Fri, 31 Dec 9999 23:59:59 GMT");
}

}  // namespace
}  // namespace skua
