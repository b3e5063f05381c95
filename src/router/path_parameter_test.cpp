// SPDX-License-Identifier: MIT
#include "skua/path_parameter.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace skua {
namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  return PathParameter<T>::parse(text);
}

TEST(PathParameter, IsTheWholeTextAndInRange) {
  EXPECT_EQ(parse<int>("-7"), -7);
  EXPECT_EQ(parse<std::uint8_t>("255"), 255);
  EXPECT_EQ(parse<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(parse<std::int8_t>("-128"), -128);
  EXPECT_EQ(parse<std::int8_t>("-129"), std::nullopt);
  EXPECT_EQ(parse<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse<std::uint64_t>("18446744073709551616"), std::nullopt);
  for (const char* const text : {"", " 7", "7 ", "+7", "7x", "0x7", "7.0", "--7", "-"}) {
    EXPECT_EQ(parse<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse<unsigned>("-1"), std::nullopt);
}

TEST(PathParameter, IsABoolByName) {
  EXPECT_EQ(parse<bool>("true"), true);
  EXPECT_EQ(parse<bool>("false"), false);
  EXPECT_EQ(parse<bool>("1"), std::nullopt);
}

TEST(PathParameter, IsAFiniteNumber) {
  EXPECT_EQ(parse<double>("-1.5e3"), -1500.0);
  EXPECT_EQ(parse<float>("0.5"), 0.5F);
  for (const char* const text : {"inf", "nan", "-infinity", "1e999", "1.5.", ""}) {
    EXPECT_EQ(parse<double>(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace skua
