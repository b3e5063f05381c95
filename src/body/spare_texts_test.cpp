// SPDX-License-Identifier: MIT
#include "body/spare_texts.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace skua::body {
namespace {

TEST(SpareTexts, GivesTheMemoryOfTheLastTextToTheNext) {
  SpareTexts spares;
  std::string text;
  const std::string data(100'000, 'x');
  spares.append(text, data);
  const char* const memory = text.data();
  spares.give(text);
  EXPECT_TRUE(text.empty());
  EXPECT_LT(text.capacity(), SpareTexts::min_bytes);
  std::string next;
  spares.append(next, data);
  EXPECT_EQ(next.data(), memory);
  EXPECT_EQ(next, data);
}

TEST(SpareTexts, LeavesSmallTextsTheirMemory) {
  SpareTexts spares;
  std::string text;
  spares.append(text, std::string(1000, 'x'));
  const char* const memory = text.data();
  spares.give(text);
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.data(), memory);
}

TEST(SpareTexts, AppendsToATextInPlace) {
  SpareTexts spares;
  std::string spare(100'000, 'x');
  spares.give(spare);
  std::string text = "begun";
  spares.append(text, std::string(50'000, 'y'));
  EXPECT_EQ(text, "begun" + std::string(50'000, 'y'));
}

TEST(SpareTexts, KeepLittleInAll) {
  SpareTexts spares;
  std::string huge(SpareTexts::max_bytes + 1, 'x');
  spares.give(huge);
  std::string text;
  spares.append(text, std::string(100'000, 'x'));
  EXPECT_LT(text.capacity(), SpareTexts::max_bytes);  // not the huge one

  std::vector<std::string> texts(100, std::string(SpareTexts::max_bytes / 10, 'x'));
  for (std::string& each : texts) spares.give(each);
  std::size_t kept_bytes = 0;
  for (std::string& each : texts) {
    spares.append(each, "more than the room in a string without memory");
    if (each.capacity() >= SpareTexts::min_bytes) kept_bytes += each.capacity();
  }
  EXPECT_GT(kept_bytes, SpareTexts::max_bytes / 2);
  EXPECT_LE(kept_bytes, SpareTexts::max_bytes);
}

TEST(SpareTexts, ForgetTheirMemory) {
  SpareTexts spares;
  std::string text(100'000, 'x');
  spares.give(text);
  spares.clear();
  spares.append(text, "more than the room in a string without memory");
  EXPECT_LT(text.capacity(), SpareTexts::min_bytes);
}

}  // namespace
}  // namespace skua::body
