// SPDX-License-Identifier: MIT
#include "skua/method.hpp"

#include <gtest/gtest.h>

namespace skua {
namespace {

TEST(Method, EveryNameParsesToItsMethod) {
  for (std::size_t i = 0; i < method_count; ++i) {
    const Method method = static_cast<Method>(i);
    EXPECT_EQ(parse_method(name(method)), method);
  }
}

TEST(Method, NamesAreCaseSensitiveAndWhole) {
  EXPECT_EQ(parse_method("get"), std::nullopt);
  EXPECT_EQ(parse_method("GETS"), std::nullopt);
  EXPECT_EQ(parse_method(""), std::nullopt);
}

}  // namespace
}  // namespace skua
