// SPDX-License-Identifier: MIT
#include "ws/mask.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skua::ws {
namespace {

constexpr std::array<char, 4> key{'\x37', '\xfa', '\x21', '\x3d'};

TEST(Mask, ExampleOfTheRfc) {  // RFC 6455 §5.7
  std::string text = "\x7f\x9f\x4d\x51\x58";
  mask(text, key, 0);
  EXPECT_EQ(text, "Hello");
}

TEST(Mask, AnySizeAlignmentAndOffsetAsByteByByte) {
  std::vector<char> source(400);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7 + i / 5);
  for (std::size_t size = 0; size <= 300; ++size) {
    for (std::size_t alignment = 0; alignment < 16; ++alignment) {
      for (std::size_t offset = 0; offset < 5; ++offset) {
        std::vector<char> wanted = source;
        for (std::size_t i = 0; i < size; ++i) {
          wanted[alignment + i] = static_cast<char>(wanted[alignment + i] ^ key[(offset + i) % 4]);
        }
        std::vector<char> masked = source;
        mask(std::span(masked).subspan(alignment, size), key, offset);
        ASSERT_EQ(masked, wanted) << size << " " << alignment << " " << offset;
      }
    }
  }
}

TEST(Mask, NothingAtAll) { mask({}, key, 3); }

}  // namespace
}  // namespace skua::ws
