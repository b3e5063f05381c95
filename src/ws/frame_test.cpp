// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "ws/frame.hpp"

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
namespace {

std::string bytes(std::initializer_list<unsigned> values) {
  std::string out;
  for (const unsigned value : values) out += static_cast<char>(value);
  return out;
}

std::string context_of(std::string_view input) {
  FrameHeader header;
  const auto used = parse_frame_header(input, header);
  if (used) return "used " + std::to_string(*used);
  EXPECT_EQ(used.error().code(), Errc::MalformedFrame);
  return std::string(used.error().context());
}

// RFC 6455 §5.7
TEST(FrameHeader, ExamplesOfTheRfc) {
  FrameHeader header;
  EXPECT_EQ(parse_frame_header(bytes({0x81, 0x05, 'H'}), header).value(), 2U);
  EXPECT_EQ(header.opcode, Opcode::Text);
  EXPECT_TRUE(header.is_final);
  EXPECT_FALSE(header.is_masked);
  EXPECT_EQ(header.payload_bytes, 5U);

  EXPECT_EQ(parse_frame_header(bytes({0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d}), header).value(), 6U);
  EXPECT_TRUE(header.is_masked);
  EXPECT_EQ(std::string(header.key.begin(), header.key.end()), bytes({0x37, 0xfa, 0x21, 0x3d}));

  EXPECT_EQ(parse_frame_header(bytes({0x01, 0x03}), header).value(), 2U);
  EXPECT_FALSE(header.is_final);
  EXPECT_EQ(parse_frame_header(bytes({0x82, 0x7e, 0x01, 0x00}), header).value(), 4U);
  EXPECT_EQ(header.payload_bytes, 256U);
  EXPECT_EQ(parse_frame_header(bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0}), header).value(), 10U);
  EXPECT_EQ(header.payload_bytes, 65536U);
}

TEST(FrameHeader, IsThereWithItsLastByteOnly) {
  for (const std::uint64_t length : {0ULL, 125ULL, 126ULL, 65535ULL, 65536ULL, (1ULL << 63) - 1}) {
    for (const bool is_masked : {false, true}) {
      FrameHeader written{.payload_bytes = length,
                          .opcode = Opcode::Binary,
                          .is_final = false,
                          .is_compressed = true,
                          .is_masked = is_masked};
      if (is_masked) written.key = {'a', 'b', 'c', 'd'};
      std::array<char, longest_header_bytes> room;
      const auto size =
          static_cast<std::size_t>(write_frame_header(written, room.data()) - room.data());
      for (std::size_t n = 0; n < size; ++n) {
        FrameHeader header;
        EXPECT_EQ(parse_frame_header({room.data(), n}, header).value(), 0U) << length << " " << n;
      }
      FrameHeader header;
      EXPECT_EQ(parse_frame_header({room.data(), size}, header).value(), size);
      EXPECT_EQ(header.payload_bytes, length);
      EXPECT_EQ(header.opcode, Opcode::Binary);
      EXPECT_FALSE(header.is_final);
      EXPECT_TRUE(header.is_compressed);
      EXPECT_EQ(header.is_masked, is_masked);
      EXPECT_EQ(header.key, written.key);
    }
  }
}

TEST(FrameHeader, EveryFirstPairOfBytes) {
  for (unsigned first = 0; first < 256; ++first) {
    for (unsigned second = 0; second < 256; ++second) {
      const unsigned opcode = first & 15U;
      const bool is_known = opcode <= 2 || (opcode >= 8 && opcode <= 10);
      const bool is_good_control =
          (first & 0x40U) == 0 && (first & 0x80U) != 0 && (second & 0x7fU) <= 125;
      const bool is_good = (first & 0x30U) == 0 && is_known && (opcode < 8 || is_good_control);
      FrameHeader header;
      EXPECT_EQ(parse_frame_header(bytes({first, second}), header).has_value(), is_good)
          << first << " " << second;
    }
  }
}

TEST(FrameHeader, LengthsHaveOneSpelling) {
  EXPECT_EQ(context_of(bytes({0x82, 0x7e, 0x00, 0x7d})), "a length is not minimal");
  EXPECT_EQ(context_of(bytes({0x82, 0x7e, 0x00, 0x7e})), "used 4");
  EXPECT_EQ(context_of(bytes({0x82, 0x7f, 0, 0, 0, 0, 0, 0, 0xff, 0xff})),
            "a length is not minimal");
  EXPECT_EQ(context_of(bytes({0x82, 0x7f, 0x80, 0, 0, 0, 0, 1, 0, 0})), "a length is above 2^63-1");
  EXPECT_EQ(context_of(bytes({0x82, 0x7f, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})),
            "used 10");
}

TEST(FrameHeader, FaultsOfTheStart) {
  EXPECT_EQ(context_of(bytes({0xa1, 0x00})), "a reserved bit is set");
  EXPECT_EQ(context_of(bytes({0x91, 0x00})), "a reserved bit is set");
  EXPECT_EQ(context_of(bytes({0x83, 0x00})), "an opcode is reserved");
  EXPECT_EQ(context_of(bytes({0x8b, 0x00})), "an opcode is reserved");
  EXPECT_EQ(context_of(bytes({0x09, 0x00})), "a control frame is fragmented");
  EXPECT_EQ(context_of(bytes({0xc9, 0x00})), "a control frame is compressed");
  EXPECT_EQ(context_of(bytes({0x89, 0x7e})), "a control frame is too long");
  EXPECT_EQ(context_of(bytes({0x88, 0xff})), "a control frame is too long");
}

}  // namespace
}  // namespace skua::ws
