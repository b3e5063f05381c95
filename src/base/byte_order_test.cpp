// SPDX-License-Identifier: MIT
#include "base/byte_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace skua::byte_order {
namespace {

using std::endian;

TEST(ByteOrder, LoadsEitherOrder) {
  constexpr const char* bytes = "\x01\x02\x03\x04\x05\x06\x07\xf8";
  EXPECT_EQ((load<std::uint32_t, endian::big>(bytes)), 0x01020304U);
  EXPECT_EQ((load<std::uint32_t, endian::little>(bytes)), 0x04030201U);
  EXPECT_EQ((load<std::uint64_t, endian::big>(bytes)), 0x01020304050607f8U);
  EXPECT_EQ((load<std::uint64_t, endian::little>(bytes)), 0xf807060504030201U);
}

TEST(ByteOrder, StoresEitherOrder) {
  std::array<char, 4> bytes{};
  store<endian::big>(bytes.data(), 0x01020304U);
  EXPECT_EQ(std::string_view(bytes.data(), 4), "\x01\x02\x03\x04");
  store<endian::little>(bytes.data(), 0x01020304U);
  EXPECT_EQ(std::string_view(bytes.data(), 4), "\x04\x03\x02\x01");
}

}  // namespace
}  // namespace skua::byte_order
