// SPDX-License-Identifier: MIT
#include "h2/hpack_encoder.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/base_encoding.hpp"
#include "h2/hpack_decoder.hpp"
#include "h2/hpack_table.hpp"
#include "support/hpack.hpp"

namespace skua::h2 {
namespace {

using hpack::bytes;
using hpack::Fields;
using http::FieldName;

/// An encoder and the decoder of its peer.
struct Pair {
  explicit Pair(std::uint32_t max_table_bytes = HpackEncoder::usual_table_bytes)
      : encoder(max_table_bytes), decoder(std::max(max_table_bytes, default_table_bytes)) {}

  Pair& begin() {
    block.clear();
    sent.clear();
    encoder.start(block);
    return *this;
  }
  Pair& add(std::string_view name, std::string_view value, Indexing indexing = Indexing::Auto) {
    const rules::Name found = rules::look_at(name);
    if (found.pseudo != Pseudo::None) {
      encoder.add_pseudo(block, found.pseudo, value);
    } else {
      encoder.add(block, http::find_field_name(name), name, value, indexing);
    }
    std::string lower(name);
    for (char& c : lower) c = ascii::to_lower(c);
    sent.emplace_back(lower, value);
    return *this;
  }
  /// Ends and decodes the block. Returns it in hexadecimal.
  std::string end() {
    const auto read = hpack::decode(decoder, block);
    EXPECT_TRUE(read == sent) << hex::encode(block).substr(0, 1000);
    EXPECT_TRUE(hpack::entries(decoder.table()) == hpack::entries(encoder.table()));
    EXPECT_EQ(decoder.table().size_bytes(), encoder.table().size_bytes());
    EXPECT_LE(encoder.table().size_bytes(), encoder.table().limit_bytes());
    return hex::encode(block);
  }
  std::string one(std::string_view name, std::string_view value,
                  Indexing indexing = Indexing::Auto) {
    return begin().add(name, value, indexing).end();
  }

  HpackEncoder encoder;
  HpackDecoder decoder;
  std::string block;
  Fields sent;
};

TEST(HpackEncoder, WritesTheExamplesOfTheStandard) {
  // RFC 7541 appendix C.4
  Pair pair(4096);
  pair.begin().add(":method", "GET").add(":scheme", "http").add(":path", "/");
  EXPECT_EQ(pair.add(":authority", "www.example.com").end(), "828684418cf1e3c2e5f23a6ba0ab90f4ff");
  pair.begin().add(":method", "GET").add(":scheme", "http").add(":path", "/");
  pair.add(":authority", "www.example.com").add("cache-control", "no-cache");
  EXPECT_EQ(pair.end(), "828684be5886a8eb10649cbf");
  pair.begin().add(":method", "GET").add(":scheme", "https").add(":path", "/index.html");
  pair.add(":authority", "www.example.com").add("custom-key", "custom-value");
  EXPECT_EQ(pair.end(), "828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf");
  EXPECT_EQ(pair.encoder.table().size_bytes(), 164U);
}

TEST(HpackEncoder, EveryStaticEntryIsOneOctet) {
  Pair pair(4096);
  for (unsigned i = 1; i <= static_table::count; ++i) {
    const static_table::Line& line = static_table::lines[i - 1];
    const std::string text = pair.one(line.name, line.value);
    const bool is_secret =
        line.name == "authorization" || line.name == "proxy-authorization" || line.name == "cookie";
    if (is_secret) continue;
    EXPECT_EQ(text, hex::encode(std::string(1, static_cast<char>(0x80U | i)))) << line.name;
  }
  EXPECT_EQ(pair.encoder.memory_bytes(), 0U);
}

TEST(HpackEncoder, StatusesAreOneOctetOrALiteral) {
  Pair pair(4096);
  for (std::uint16_t status = 100; status < 1000; ++status) {
    pair.begin();
    pair.encoder.add_status(pair.block, status);
    pair.sent.emplace_back(":status", std::to_string(status));
    const std::string text = pair.end();
    EXPECT_LE(text.size(), 10U);
    const std::string with_value = pair.one(":status", std::to_string(status));
    EXPECT_EQ(with_value, text);
  }
  EXPECT_EQ(pair.one(":status", "404"), "8d");
  EXPECT_EQ(pair.one(":status", "302"), "0803333032");
  EXPECT_EQ(pair.encoder.table().count(), 0U);
}

TEST(HpackEncoder, WhatWasSentBeforeIsOneOctet) {
  Pair pair(4096);
  pair.begin().add("Server", "skua").add("X-Frame", "deny").add("content-type", "text/html");
  pair.add("Date", "Mon, 21 Oct 2013 20:13:21 GMT").add("Content-Type", "text/css").end();
  EXPECT_EQ(pair.one("server", "skua"), "c2");
  EXPECT_EQ(pair.one("x-frame", "deny"), "c1");
  EXPECT_EQ(pair.one("CONTENT-TYPE", "text/html"), "c0");
  EXPECT_EQ(pair.one("content-type", "text/css"), "be");
  EXPECT_EQ(pair.one("date", "Mon, 21 Oct 2013 20:13:21 GMT"), "bf");
  // A name in the table is not written again.
  EXPECT_EQ(pair.one("X-FRAME", "a"), "7f020161");  // entry 65
}

TEST(HpackEncoder, SecretsAreNeverIndexed) {
  Pair pair;
  pair.begin().end();
  EXPECT_EQ(pair.one("authorization", "a"), "1f080161");
  EXPECT_EQ(pair.one("Proxy-Authorization", "a"), "1f220161");
  EXPECT_EQ(pair.one("cookie", "a=b"), "1f1103613d62");
  EXPECT_EQ(pair.one("x-y", "a", Indexing::Never), "1003782d790161");
  EXPECT_EQ(pair.one("accept-encoding", "gzip, deflate", Indexing::Never).substr(0, 4), "1f01");
  EXPECT_EQ(pair.encoder.table().count(), 0U);
  EXPECT_EQ(pair.encoder.memory_bytes(), 0U);
  // A long cookie is worth an entry, and cannot be guessed a character at a time.
  pair.one("cookie", "session=0123456789abcdef");
  EXPECT_EQ(pair.one("cookie", "session=0123456789abcdef"), "be");
  EXPECT_NE(pair.one("cookie", "session=0123456789abcdef", Indexing::Never), "be");
}

TEST(HpackEncoder, WhatChangesEachTimeIsNotIndexed) {
  Pair pair;
  pair.begin().end();
  EXPECT_EQ(pair.one("content-length", "12"), "0f0d023132");
  EXPECT_EQ(pair.one("content-length", "123456"), "0f0d85089969b73f");
  for (const std::string_view name :
       {":path", "content-length", "etag", "last-modified", "if-match", "if-modified-since",
        "if-none-match", "if-range", "if-unmodified-since", "location", "range", "set-cookie",
        "content-range", "age"}) {
    pair.one(name, "12345");
  }
  pair.one("server", "skua", Indexing::Without);
  pair.one("x-long", std::string(HpackEncoder::usual_table_bytes / 2, 'x'));
  EXPECT_EQ(pair.encoder.table().count(), 0U);
}

TEST(HpackEncoder, NumbersAndTextsOfAnyLength) {
  Pair pair(100'000);
  pair.encoder.set_peer_table_bytes(100'000);
  for (const std::size_t size :
       {0U, 1U, 126U, 127U, 128U, 200U, 254U, 255U, 300U, 16'511U, 40'000U, 200'000U}) {
    pair.begin().add("x-plain", std::string(size, '\\')).add("x-coded", std::string(size, 'e'));
    pair.add(std::string(std::min<std::size_t>(size, 5000), 'N') + "n", "v");
    pair.add("location", std::string(size, '?')).add(":path", std::string(size, '0')).end();
  }
}

TEST(HpackEncoder, ASmallTableIsAnnouncedAtFirst) {
  HpackEncoder usual;
  std::string block;
  usual.start(block);
  EXPECT_EQ(hex::encode(block), "3fe107");
  usual.start(block);
  EXPECT_EQ(hex::encode(block), "3fe107");

  HpackEncoder none(0);
  block.clear();
  none.start(block);
  none.add(block, FieldName::Server, "server", "a");
  EXPECT_EQ(hex::encode(block), "200f270161");
  EXPECT_EQ(none.memory_bytes(), 0U);
}

TEST(HpackEncoder, AnnouncesTheSmallestAndTheLastSize) {
  // RFC 7541 §4.2
  Pair pair(8192);
  EXPECT_EQ(pair.begin().end(), "");
  pair.one("server", "a");
  pair.encoder.set_peer_table_bytes(4096);
  EXPECT_EQ(pair.one("server", "a"), "be");

  pair.encoder.set_peer_table_bytes(0);
  pair.encoder.set_peer_table_bytes(100);
  EXPECT_EQ(pair.encoder.table().count(), 1U);
  EXPECT_EQ(pair.begin().end(), "203f45");
  EXPECT_EQ(pair.encoder.table().count(), 0U);
  EXPECT_EQ(pair.encoder.memory_bytes(), 0U);

  pair.one("server", "b");
  pair.encoder.set_peer_table_bytes(4096);
  pair.encoder.set_peer_table_bytes(4095);
  EXPECT_EQ(pair.begin().end(), "3fe01f");
  EXPECT_EQ(pair.encoder.table().count(), 1U);
  pair.encoder.set_peer_table_bytes(100'000);
  pair.encoder.set_peer_table_bytes(10);
  EXPECT_EQ(pair.begin().end(), "2a");
  EXPECT_EQ(pair.encoder.table().count(), 0U);
  EXPECT_EQ(pair.one("server", "c"), "0f270163");
  EXPECT_EQ(pair.encoder.table().count(), 0U);
}

TEST(HpackEncoder, MemoryIsNoMoreThanTheTableMayHold) {
  Pair pair;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    pair.one("x-" + std::to_string(random() % 90), std::string(random() % 400, 'v'));
    EXPECT_LE(pair.encoder.memory_bytes(), 1024 + 1024);
  }
  EXPECT_LE(sizeof(HpackEncoder) + sizeof(HpackDecoder), 400U);
}

/// Returns a random field, realistic or not.
std::pair<std::string, std::string> random_field(std::mt19937& random) {
  static const std::string names[] = {":authority", ":path",         ":method",      "server",
                                      "date",       "content-type",  "X-Request-Id", "cookie",
                                      "set-cookie", "authorization", "vary",         "Link",
                                      "from",       "accept",        "te",           "etag"};
  std::string name = names[random() % std::size(names)];
  if (random() % 4 == 0) name = "x-" + std::to_string(random() % 40);
  if (random() % 50 == 0) name += std::string(random() % 300, 'Y');
  if (name[0] == ':' && name.find('Y') != std::string::npos) name.erase(0, 1);
  std::string value = std::to_string(random() % 6);
  if (random() % 8 == 0) value.append(random() % 200, static_cast<char>(random() % 256));
  return {name, value};
}

TEST(HpackEncoder, RandomFieldsReachTheDecoder) {
  std::mt19937 random(3);
  for (const std::uint32_t most : {0U, 64U, 256U, 1024U, 4096U, 20'000U}) {
    Pair pair(most);
    for (int block = 0; block < 700; ++block) {
      if (random() % 16 == 0) {
        pair.encoder.set_peer_table_bytes(static_cast<std::uint32_t>(random() % 4097));
      }
      pair.begin();
      for (std::size_t count = random() % 12; count != 0; --count) {
        const auto [name, value] = random_field(random);
        pair.add(name, value, static_cast<Indexing>(random() % 12 < 10 ? 0 : random() % 3));
      }
      pair.end();
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(HpackEncoder, NumbersOfEntriesMayComeRoundAgain) {
  // After 2^16 entries, an entry found by an old number must be compared.
  Pair pair;
  pair.begin().end();
  pair.one("x-first", "1");
  for (int i = 0; i < 66'000; ++i) {
    pair.block.clear();
    pair.encoder.add(pair.block, FieldName::Vary, "vary", std::to_string(i));
    ASSERT_TRUE(hpack::decode(pair.decoder, pair.block));
    if (i % 16 != 0) continue;
    pair.one(i % 32 == 0 ? "x-first" : "server", "1");
  }
}

}  // namespace
}  // namespace skua::h2
