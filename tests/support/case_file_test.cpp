// SPDX-License-Identifier: MIT
#include "support/case_file.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace skua::testing {
namespace {

TEST(CaseFile, NotationOfBytes) {
  EXPECT_EQ(unescape(R"(a\r\n\t\\\"\x00\xff)"), std::string("a\r\n\t\\\"\0\xff", 8));
  EXPECT_EQ(unescape(R"(x{ab\n}*3y{c}*0\{)"), "xab\nab\nab\ny{");
  for (const char* bad : {"\\q", "\\", "\\x1", "\\xFF", "{a}", "{a", "{a}*"}) {
    EXPECT_THROW(unescape(bad), std::runtime_error) << bad;
  }
}

TEST(CaseFile, EscapedBytesCanBePrinted) {
  EXPECT_EQ(escape("a\r\n\x01\xff"), "a\\r\\n\\x01\\xff");
}

}  // namespace
}  // namespace skua::testing
