// SPDX-License-Identifier: MIT
#include "base/text/number_text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <limits>
#include <string>

namespace skua::base {
namespace {

TEST(NumberText, HasTheDecimalsThatAreAskedFor) {
  EXPECT_EQ(fixed_text(1.5, 3), "1.500");
  EXPECT_EQ(fixed_text(0.0005, 3), "0.001");
  EXPECT_EQ(fixed_text(-2.0, 0), "-2");
  EXPECT_EQ(fixed_text(-std::numeric_limits<double>::max(), 9).size(), 320U);
  EXPECT_EQ(short_text(0.5, 3), "0.5");
  EXPECT_EQ(short_text(1234.5, 3), "1.23e+03");
  EXPECT_EQ(short_text(1.0 / 3, 9), "0.333333333");
}

TEST(NumberText, DoesNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* german = nullptr;
  for (const char* const name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "German"}) {
    if (german == nullptr) german = std::setlocale(LC_ALL, name);
  }
  const std::string text = fixed_text(1.5, 3) + " " + short_text(0.25, 3);
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(text, "1.500 0.25") << (german != nullptr ? german : "no German locale");
}

}  // namespace
}  // namespace skua::base
