// SPDX-License-Identifier: MIT
#include "skua/release.hpp"

#include <string>

#include <gtest/gtest.h>

namespace skua {
namespace {

TEST(LibraryVersion, IsThatOfTheHeadersItWasBuiltWith) {
  EXPECT_EQ(library_version(), SKUA_VERSION_TEXT);
}

TEST(LibraryVersion, IsTheSameAsTextAndAsNumber) {
  const std::string number = std::to_string(SKUA_VERSION / 10000) + "." +
                             std::to_string(SKUA_VERSION / 100 % 100) + "." +
                             std::to_string(SKUA_VERSION % 100);
  EXPECT_EQ(number, SKUA_VERSION_TEXT);
}

}  // namespace
}  // namespace skua
