// SPDX-License-Identifier: MIT
#include "h2/hpack_decoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "h2/huffman.hpp"
#include "support/h2_frames.hpp"
#include "support/hpack.hpp"

namespace skua::h2 {
namespace {

using namespace std::string_literals;
using frames::hpack_integer;
using hpack::bytes;
using hpack::Fields;
using Result = HpackDecoder::Result;

/// One of a sequence of blocks for a decoder, with the expected results.
struct Exchange {
  std::string block;
  Fields fields;
  Fields table;
  std::uint32_t table_bytes;
};

const Fields request_1 = {
    {":method", "GET"}, {":scheme", "http"}, {":path", "/"}, {":authority", "www.example.com"}};
const Fields request_2 = {{":method", "GET"},
                          {":scheme", "http"},
                          {":path", "/"},
                          {":authority", "www.example.com"},
                          {"cache-control", "no-cache"}};
const Fields request_3 = {{":method", "GET"},
                          {":scheme", "https"},
                          {":path", "/index.html"},
                          {":authority", "www.example.com"},
                          {"custom-key", "custom-value"}};
const Fields table_1 = {{":authority", "www.example.com"}};
const Fields table_2 = {{"cache-control", "no-cache"}, {":authority", "www.example.com"}};
const Fields table_3 = {{"custom-key", "custom-value"},
                        {"cache-control", "no-cache"},
                        {":authority", "www.example.com"}};

const std::vector<Exchange> plain_requests = {
    {bytes("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d"), request_1, table_1, 57},
    {bytes("8286 84be 5808 6e6f 2d63 6163 6865"), request_2, table_2, 110},
    {bytes("8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65"), request_3,
     table_3, 164}};

const std::vector<Exchange> coded_requests = {
    {bytes("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff"), request_1, table_1, 57},
    {bytes("8286 84be 5886 a8eb 1064 9cbf"), request_2, table_2, 110},
    {bytes("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf"), request_3, table_3,
     164}};

const std::pair<std::string, std::string> status_302 = {":status", "302"};
const std::pair<std::string, std::string> status_307 = {":status", "307"};
const std::pair<std::string, std::string> is_private = {"cache-control", "private"};
const std::pair<std::string, std::string> date_21 = {"date", "Mon, 21 Oct 2013 20:13:21 GMT"};
const std::pair<std::string, std::string> date_22 = {"date", "Mon, 21 Oct 2013 20:13:22 GMT"};
const std::pair<std::string, std::string> location = {"location", "https://www.example.com"};
const std::pair<std::string, std::string> is_gzip = {"content-encoding", "gzip"};
const std::pair<std::string, std::string> cookie = {
    "set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"};

const Fields response_1 = {status_302, is_private, date_21, location};
const Fields response_2 = {status_307, is_private, date_21, location};
const Fields response_3 = {{":status", "200"}, is_private, date_22, location, is_gzip, cookie};
const Fields response_table_1 = {location, date_21, is_private, status_302};
const Fields response_table_2 = {status_307, location, date_21, is_private};
const Fields response_table_3 = {cookie, is_gzip, date_22};

// The RFC's table has 256 bytes; the size update is ours.
const std::vector<Exchange> plain_responses = {
    {bytes("3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 "
           "2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 "
           "2e63 6f6d"),
     response_1, response_table_1, 222},
    {bytes("4803 3330 37c1 c0bf"), response_2, response_table_2, 222},
    {bytes("88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 "
           "5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 "
           "5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31"),
     response_3, response_table_3, 215}};

const std::vector<Exchange> coded_responses = {
    {bytes("3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 "
           "2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3"),
     response_1, response_table_1, 222},
    {bytes("4883 640e ffc1 c0bf"), response_2, response_table_2, 222},
    {bytes("88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad "
           "94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 "
           "65c0 03ed 4ee5 b106 3d50 07"),
     response_3, response_table_3, 215}};

void expect_exchanges(const std::vector<Exchange>& exchanges,
                      const std::vector<std::size_t>& pieces) {
  HpackDecoder decoder;
  for (const Exchange& exchange : exchanges) {
    ASSERT_EQ(hpack::decode(decoder, exchange.block, pieces), exchange.fields);
    ASSERT_EQ(hpack::entries(decoder.table()), exchange.table);
    ASSERT_EQ(decoder.table().size_bytes(), exchange.table_bytes);
  }
}

TEST(HpackDecoder, ReadsTheExamplesOfTheStandardHoweverTheyAreCut) {
  // RFC 7541 appendix C.3 to C.6
  for (const auto& exchanges : {plain_requests, coded_requests, plain_responses, coded_responses}) {
    expect_exchanges(exchanges, {});
    for (std::size_t cut = 1; cut < 100; ++cut) {
      expect_exchanges(exchanges, {cut});
      expect_exchanges(exchanges, {cut, 1000});
    }
  }
}

TEST(HpackDecoder, ReadsEachKindOfLiteral) {
  // RFC 7541 appendix C.2
  HpackDecoder decoder;
  EXPECT_EQ(hpack::decode(decoder, bytes("040c 2f73 616d 706c 652f 7061 7468")),
            (Fields{{":path", "/sample/path"}}));
  EXPECT_EQ(hpack::decode(decoder, bytes("1008 7061 7373 776f 7264 0673 6563 7265 74")),
            (Fields{{"password", "secret"}}));
  EXPECT_EQ(hpack::decode(decoder, bytes("82")), (Fields{{":method", "GET"}}));
  EXPECT_EQ(decoder.table().count(), 0U);
  EXPECT_EQ(decoder.table().memory_bytes(), 0U);
  const Fields custom = {{"custom-key", "custom-header"}};
  EXPECT_EQ(hpack::decode(decoder, bytes("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865"
                                         "6164 6572")),
            custom);
  EXPECT_EQ(hpack::entries(decoder.table()), custom);
  EXPECT_EQ(decoder.table().size_bytes(), 55U);
}

/// Decodes a block, whole and split in many ways. Returns the number of fields, or -1 if it is
/// malformed.
int count_of(std::string_view block, std::uint32_t max_table_bytes = default_table_bytes) {
  HpackDecoder whole(max_table_bytes);
  const auto fields = hpack::decode(whole, block);
  for (std::size_t cut = 1; cut < std::min<std::size_t>(block.size(), 300); ++cut) {
    HpackDecoder cut_once(max_table_bytes);
    EXPECT_TRUE(hpack::decode(cut_once, block, {cut, block.size()}) == fields) << cut;
    HpackDecoder cut_often(max_table_bytes);
    EXPECT_TRUE(hpack::decode(cut_often, block, {cut}) == fields) << cut;
  }
  return fields ? static_cast<int>(fields->size()) : -1;
}

TEST(HpackDecoder, ReadsEveryStaticEntry) {
  HpackDecoder decoder;
  for (std::uint32_t i = 1; i <= static_table::count; ++i) {
    const static_table::Line& line = static_table::lines[i - 1];
    EXPECT_EQ(hpack::decode(decoder, frames::indexed(i)),
              (Fields{{std::string(line.name), std::string(line.value)}}));
    // Refer to the name only, in each kind of literal.
    for (const auto& [first, bits] : {std::pair{0x40U, 6U}, {0x00U, 4U}, {0x10U, 4U}}) {
      const std::string block = hpack_integer(first, bits, i) + frames::hpack_text("v");
      EXPECT_EQ(hpack::decode(decoder, block), (Fields{{std::string(line.name), "v"}}));
    }
    EXPECT_EQ(hpack::entries(decoder.table())[0], (std::pair{std::string(line.name), "v"s}));
  }
}

TEST(HpackDecoder, KnowsNames) {
  HpackDecoder decoder;
  const auto field_of = [&decoder](const std::string& block) {
    DecodedField found;
    std::size_t taken = 0;
    decoder.decode(block, true, taken, [&](const DecodedField& field) {
      found = {.known = field.known, .pseudo = field.pseudo};
      return true;
    });
    return std::pair{found.known, found.pseudo};
  };
  using http::FieldName;
  EXPECT_EQ(field_of("\x82"), (std::pair{FieldName::Other, Pseudo::Method}));
  EXPECT_EQ(field_of("\x88"), (std::pair{FieldName::Other, Pseudo::Status}));
  EXPECT_EQ(field_of("\x90"), (std::pair{FieldName::AcceptEncoding, Pseudo::None}));
  EXPECT_EQ(field_of("\x94"), (std::pair{FieldName::Other, Pseudo::None}));
  EXPECT_EQ(field_of("\xa6"), (std::pair{FieldName::Host, Pseudo::None}));
  for (const char* first : {"\x40", "\x00", "\x10"}) {
    const std::string kind(first, 1);
    const auto literal = [&](std::string_view name) {
      return field_of(kind + frames::hpack_text(name) + frames::hpack_text("v"));
    };
    EXPECT_EQ(literal("x-request-id"), (std::pair{FieldName::XRequestId, Pseudo::None}));
    EXPECT_EQ(literal("te"), (std::pair{FieldName::Te, Pseudo::None}));
    EXPECT_EQ(literal("x-any"), (std::pair{FieldName::Other, Pseudo::None}));
    EXPECT_EQ(literal("Host"), (std::pair{FieldName::Other, Pseudo::None}));
    EXPECT_EQ(literal(":path"), (std::pair{FieldName::Other, Pseudo::Path}));
    EXPECT_EQ(literal(":protocol"), (std::pair{FieldName::Other, Pseudo::Protocol}));
    EXPECT_EQ(literal(":host"), (std::pair{FieldName::Other, Pseudo::Unknown}));
    EXPECT_EQ(literal(""), (std::pair{FieldName::Other, Pseudo::None}));
  }
  EXPECT_EQ(field_of("\xbe"), (std::pair{FieldName::Other, Pseudo::None}));  // ""
  EXPECT_EQ(field_of("\xc4"), (std::pair{FieldName::Te, Pseudo::None}));  // the sixth from the end
  EXPECT_EQ(field_of("\x7f\x05\x01z"), (std::pair{FieldName::Te, Pseudo::None}));  // its name
}

TEST(HpackDecoder, IndexesThatNothingHasAreMalformed) {
  EXPECT_EQ(count_of(bytes("80")), -1);
  EXPECT_EQ(count_of(bytes("bd")), 1);
  EXPECT_EQ(count_of(bytes("be")), -1);
  EXPECT_EQ(count_of(bytes("fe")), -1);
  EXPECT_EQ(count_of(bytes("ff00")), -1);
  EXPECT_EQ(count_of(bytes("82ff8001")), -1);
  EXPECT_EQ(count_of(bytes("7e0161")), -1);
  EXPECT_EQ(count_of(bytes("0f2f0161")), -1);
  EXPECT_EQ(count_of(bytes("0f2e0161")), 1);
  EXPECT_EQ(count_of(bytes("1f2f0161")), -1);
  EXPECT_EQ(count_of(frames::remembered("a", "b") + bytes("be")), 2);
  EXPECT_EQ(count_of(frames::remembered("a", "b") + bytes("bf")), -1);
}

TEST(HpackDecoder, ReadsEveryIndexOfALargeTable) {
  HpackDecoder decoder(100'000);
  std::string block = hpack_integer(0x20, 5, 100'000);
  Fields fields;
  for (int i = 0; i < 2000; ++i) {
    fields.emplace_back("n" + std::to_string(i), "v");
    block += frames::remembered(fields.back().first, "v");
  }
  ASSERT_EQ(hpack::decode(decoder, block), fields);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& expected = fields[fields.size() - 1 - i];
    ASSERT_EQ(hpack::decode(decoder, frames::indexed(62 + i)), (Fields{expected}));
    const std::string literal = hpack_integer(0x00, 4, 62 + i) + frames::hpack_text("w");
    ASSERT_EQ(hpack::decode(decoder, literal), (Fields{{expected.first, "w"}}));
  }
  EXPECT_EQ(count_of(frames::indexed(62 + 2000)), -1);
}

TEST(HpackDecoder, NumbersHaveALimit) {
  // RFC 7541 §5.1; size updates show the limits best.
  constexpr std::uint32_t most = 1U << 28U;
  EXPECT_EQ(count_of(bytes("3f9a0a"), most), 0);          // 1337
  EXPECT_EQ(count_of(bytes("3fe1ffff7f"), most), 0);      // 2^28
  EXPECT_EQ(count_of(bytes("3fe2ffff7f"), ~0U), -1);      // 2^28 + 1
  EXPECT_EQ(count_of(bytes("3f8080808000"), most), 0);    // 31, with zeros to spare
  EXPECT_EQ(count_of(bytes("3f8080808001"), ~0U), -1);    // 2^28 + 31
  EXPECT_EQ(count_of(bytes("3f808080808000"), ~0U), -1);  // one octet too many
  EXPECT_EQ(count_of(bytes("3fffffffff0f"), ~0U), -1);
  EXPECT_EQ(count_of(bytes("ffffffffff7f")), -1);
  EXPECT_EQ(count_of(bytes("7fffffffff7f")), -1);
  EXPECT_EQ(count_of(bytes("007fffffffff7f")), -1);
  // Rejected before it is complete.
  HpackDecoder decoder;
  std::size_t taken = 0;
  const auto sink = [](const DecodedField&) { return true; };
  EXPECT_EQ(decoder.decode(bytes("ff80808080"), false, taken, sink), Result::Fine);
  EXPECT_EQ(decoder.decode(bytes("ff8080808080"), false, taken, sink), Result::Malformed);
}

TEST(HpackDecoder, SizeUpdatesComeFirstAndStayBelowTheLimit) {
  // RFC 7541 §4.2, §6.3
  EXPECT_EQ(count_of(bytes("2082")), 1);
  EXPECT_EQ(count_of(bytes("203fe11f82")), 1);  // 0, then 4096
  EXPECT_EQ(count_of(bytes("3fe21f82")), -1);   // 4097
  EXPECT_EQ(count_of(bytes("3fe21f82"), 4097), 1);
  EXPECT_EQ(count_of(bytes("8220")), -1);
  EXPECT_EQ(count_of(frames::remembered("a", "b") + bytes("20")), -1);
  HpackDecoder decoder;
  EXPECT_EQ(hpack::decode(decoder, bytes("82")), (Fields{{":method", "GET"}}));
  EXPECT_EQ(hpack::decode(decoder, bytes("20")), Fields{});
  EXPECT_EQ(decoder.table().limit_bytes(), 0U);
}

TEST(HpackDecoder, ASmallerLimitOfOursHasToBeFollowed) {
  HpackDecoder decoder(100);
  std::size_t taken = 0;
  const auto sink = [](const DecodedField&) { return true; };
  // The default applies until the acknowledgement.
  EXPECT_TRUE(hpack::decode(decoder, frames::remembered("a", std::string(3000, 'v'))));
  EXPECT_EQ(decoder.table().count(), 1U);
  decoder.on_settings_acknowledged();
  decoder.start();
  EXPECT_EQ(decoder.decode("", true, taken, sink), Result::Fine);
  EXPECT_EQ(decoder.decode("\x82", true, taken, sink), Result::Malformed);
  EXPECT_EQ(decoder.decode(bytes("3f46"), true, taken, sink), Result::Malformed);  // 101
  EXPECT_EQ(decoder.decode(bytes("3f45"), true, taken, sink), Result::Fine);       // 100
  EXPECT_EQ(decoder.table().count(), 0U);
  EXPECT_EQ(decoder.decode("\x82", true, taken, sink), Result::Fine);
  // No update is required unless the limit gets smaller.
  HpackDecoder usual;
  usual.on_settings_acknowledged();
  EXPECT_TRUE(hpack::decode(usual, "\x82"));
}

TEST(HpackDecoder, WhatIsNotWholeWaits) {
  const std::string block = bytes("82") + frames::remembered("name", "value") + bytes("be87");
  const std::size_t ends[] = {0, 1, 13, 14, 15};
  for (std::size_t size = 0; size <= block.size(); ++size) {
    for (const bool is_last : {false, true}) {
      HpackDecoder decoder;
      std::size_t taken = 99;
      std::size_t count = 0;
      const auto result = decoder.decode(std::string_view(block).substr(0, size), is_last, taken,
                                         [&](const DecodedField&) { return ++count != 0; });
      EXPECT_EQ(taken, *(std::upper_bound(std::begin(ends), std::end(ends), size) - 1));
      EXPECT_EQ(result, is_last && taken != size ? Result::Malformed : Result::Fine);
      EXPECT_EQ(count, std::upper_bound(std::begin(ends), std::end(ends), size) - ends - 1);
    }
  }
}

TEST(HpackDecoder, TheSinkStopsIt) {
  const std::string block = bytes("8287") + frames::field("name", "value") + bytes("84");
  HpackDecoder decoder;
  std::size_t taken = 0;
  const std::size_t ends[] = {1, 2, 14, 15};
  for (std::size_t wanted = 0; wanted < 4; ++wanted) {
    std::size_t count = 0;
    EXPECT_EQ(
        decoder.decode(block, true, taken, [&](const DecodedField&) { return count++ != wanted; }),
        Result::Stopped);
    EXPECT_EQ(taken, ends[wanted]);
  }
}

TEST(HpackDecoder, LiteralsHaveALimit) {
  const auto sink = [](const DecodedField&) { return true; };
  std::size_t taken = 0;
  for (const std::string& front : {""s, bytes("82")}) {
    HpackDecoder decoder(4096, 100);
    const auto result = [&](const std::string& block) {
      return decoder.decode(front + block, false, taken, sink);
    };
    // The length alone decides, before the text arrives.
    EXPECT_EQ(result(std::string(1, '\0') + hpack_integer(0, 7, 100)), Result::Fine);
    EXPECT_EQ(result(std::string(1, '\0') + hpack_integer(0, 7, 101)), Result::Malformed);
    EXPECT_EQ(result("\x01" + hpack_integer(0, 7, 101)), Result::Malformed);
    EXPECT_EQ(result("\x01" + hpack_integer(0x80, 7, 101)), Result::Malformed);
    EXPECT_EQ(result("\x41" + hpack_integer(0x80, 7, 101)), Result::Malformed);
    EXPECT_EQ(result(frames::field("n", std::string(100, 'v'))), Result::Fine);
    // The decoded size decides, too: '0' has five bits.
    for (const std::size_t size : {100U, 101U, 102U, 160U}) {
      std::string coded;
      huffman_encode(std::string(size, '0'), coded);
      EXPECT_LE(coded.size(), 100U);
      EXPECT_EQ(result("\x01" + hpack_integer(0x80, 7, coded.size()) + coded),
                size == 100 ? Result::Fine : Result::Malformed);
    }
  }
  const std::string most(HpackDecoder::default_literal_bytes, 'v');
  HpackDecoder usual;
  EXPECT_EQ(hpack::decode(usual, frames::field("n", most), {4096}), (Fields{{"n", most}}));
}

TEST(HpackDecoder, HuffmanCodesThatAreMalformedAreRefused) {
  EXPECT_EQ(count_of(bytes("0081070161")), 1);
  EXPECT_EQ(count_of(bytes("0081000161")), -1);
  EXPECT_EQ(count_of(bytes("01818007")), -1);
  EXPECT_EQ(count_of(bytes("0184ffffffff")), -1);
  EXPECT_EQ(count_of(bytes("0180")), 1);  // an empty text, Huffman-coded
}

TEST(HpackDecoder, OldEntriesMakeRoom) {
  // Two entries of 40 bytes each fit.
  const std::string update = hpack_integer(0x20, 5, 80);
  HpackDecoder decoder;
  const auto entry = [](std::string_view name) { return frames::remembered(name, "value"); };
  ASSERT_TRUE(hpack::decode(decoder, update + entry("abc") + entry("def")));
  EXPECT_EQ(decoder.table().size_bytes(), 80U);
  ASSERT_TRUE(hpack::decode(decoder, entry("ghi")));
  EXPECT_EQ(hpack::entries(decoder.table()), (Fields{{"ghi", "value"}, {"def", "value"}}));
  // Adding an entry may evict the one that its name refers to. RFC 7541 §4.4
  const Fields alone = {{"def", std::string(45, 'v')}};
  const std::string literal = hpack_integer(0x40, 6, 63) + frames::hpack_text(alone[0].second);
  EXPECT_EQ(hpack::decode(decoder, literal), alone);
  EXPECT_EQ(hpack::entries(decoder.table()), alone);
  // A field larger than the table empties it, but is still decoded.
  const std::string large(46, 'x');
  EXPECT_EQ(hpack::decode(decoder, "\x7e" + frames::hpack_text(large)), (Fields{{"def", large}}));
  EXPECT_EQ(decoder.table().count(), 0U);
  ASSERT_TRUE(hpack::decode(decoder, entry("abc") + entry("def")));
  ASSERT_TRUE(hpack::decode(decoder, hpack_integer(0x20, 5, 79)));
  EXPECT_EQ(hpack::entries(decoder.table()), (Fields{{"def", "value"}}));
  ASSERT_TRUE(hpack::decode(decoder, bytes("20")));
  EXPECT_EQ(decoder.table().count(), 0U);
  EXPECT_EQ(decoder.table().memory_bytes(), 0U);
}

TEST(HpackDecoder, MemoryIsNoMoreThanTheTableMayHold) {
  HpackDecoder decoder;
  EXPECT_EQ(decoder.memory_bytes(), 0U);
  EXPECT_LE(sizeof decoder, 160U);
  std::uint32_t size = 1;
  for (int i = 0; i < 5000; ++i) {
    size = size * 7 % 3001;
    ASSERT_TRUE(hpack::decode(
        decoder, frames::remembered("name", std::string(size % (i % 2 == 0 ? 40 : 3000), 'v'))));
    ASSERT_LE(decoder.memory_bytes(), 4096 + 128 * sizeof(HpackTable::Entry));
  }
  // The memory of a large literal is freed.
  std::string coded;
  huffman_encode(std::string(100'000, 'e'), coded);
  ASSERT_TRUE(hpack::decode(decoder, "\x01" + hpack_integer(0x80, 7, coded.size()) + coded));
  EXPECT_GT(decoder.memory_bytes(), 100'000U);
  decoder.end();
  EXPECT_LE(decoder.memory_bytes(), 8192U);
}

}  // namespace
}  // namespace skua::h2
