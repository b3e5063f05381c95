// SPDX-License-Identifier: MIT

#include "http/message/start_line.hpp"

#include <gtest/gtest.h>

#include <string>

#include "skua/method.hpp"
#include "skua/status.hpp"

namespace skua {
namespace {

TEST(Method, EveryNameParsesToItsMethod) {
  for (std::size_t i = 0; i < method_count; ++i) {
    const Method method = static_cast<Method>(i);
    EXPECT_EQ(parse_method(name(method)), method);
  }
}

TEST(Method, TheLastNameIsOfTheLastMethod) {
  EXPECT_EQ(name(Method::Query), "QUERY");
  EXPECT_EQ(name(Method::Other), "_OTHER");
  EXPECT_EQ(parse_method("_OTHER"), std::nullopt);
  EXPECT_EQ(name(Method::Patch), "PATCH");
}

TEST(Method, NamesAreCaseSensitiveAndWhole) {
  EXPECT_EQ(parse_method("get"), std::nullopt);
  EXPECT_EQ(parse_method("GETS"), std::nullopt);
  EXPECT_EQ(parse_method(""), std::nullopt);
}

TEST(Method, OthersAreTokensThatNobodyTakesForAKnownOne) {
  for (const char* const token : {"REPORT", "MKCALENDAR", "BASELINE-CONTROL", "M-SEARCH", "GETS"}) {
    EXPECT_TRUE(http::may_be_other_method(token)) << token;
  }
  for (const char* const token : {"get", "Delete", "PRI", "", "mOVE"}) {
    EXPECT_FALSE(http::may_be_other_method(token)) << token;
  }
  EXPECT_TRUE(http::may_be_other_method(std::string(http::longest_method, 'A')));
  EXPECT_FALSE(http::may_be_other_method(std::string(http::longest_method + 1, 'A')));
}

}  // namespace
namespace {

TEST(Status, RegisteredCodesHaveAReasonAndOthersNone) {
  EXPECT_EQ(reason(Status::Ok), "OK");
  EXPECT_EQ(reason(Status::ContentTooLarge), "Content Too Large");
  EXPECT_EQ(reason(Status(299)), "");
  int registered = 0;
  for (std::uint16_t code = 100; code < 600; ++code) registered += !reason(Status(code)).empty();
  EXPECT_EQ(registered, 62);
}

TEST(Status, SomeHaveNoBodyWhateverTheHandlerSays) {
  EXPECT_TRUE(is_bodiless(Status::Continue));
  EXPECT_TRUE(is_bodiless(Status::NoContent));
  EXPECT_TRUE(is_bodiless(Status::NotModified));
  EXPECT_FALSE(is_bodiless(Status::ResetContent));
}

}  // namespace
}  // namespace skua
