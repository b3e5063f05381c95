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

using frames::hpack_integer;
using hpack::bytes;
using hpack::Fields;
using Result = HpackDecoder::Result;

/// Blocks that one decoder gets one after the other, and what has to come of them.
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

// Their tables have 256 bytes; the size update is ours.
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

}  // namespace
}  // namespace skua::h2
