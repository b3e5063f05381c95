// SPDX-License-Identifier: MIT
#include "skua/attachments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace skua {
namespace {

struct User {
  std::string name{};
};

TEST(Attachments, FindsAValueByItsType) {
  Attachments attachments;
  EXPECT_EQ(attachments.find<User>(), nullptr);
  attachments.set(User{"ada"});
  attachments.set(7);
  ASSERT_NE(attachments.find<User>(), nullptr);
  EXPECT_EQ(attachments.find<User>()->name, "ada");
  EXPECT_EQ(*attachments.find<int>(), 7);
  EXPECT_EQ(attachments.find<long>(), nullptr);
}

TEST(Attachments, ReplacesAValueOfTheSameTypeInPlace) {
  Attachments attachments;
  User& first = attachments.set(User{"ada"});
  User& second = attachments.set(User{"grace"});
  EXPECT_EQ(&first, &second);
  EXPECT_EQ(attachments.find<User>()->name, "grace");
}

TEST(Attachments, DestroysEveryValueOnce) {
  const auto counted = std::make_shared<int>(1);
  {
    Attachments attachments;
    attachments.set(counted);
    attachments.set(User{});
    Attachments moved = std::move(attachments);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

}  // namespace
}  // namespace skua
