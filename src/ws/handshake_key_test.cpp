// SPDX-License-Identifier: MIT
#include "ws/handshake_key.hpp"

#include <gtest/gtest.h>

#include "base/base_encoding.hpp"
#include "crypto/digest.hpp"

namespace skua::ws {
namespace {

TEST(HandshakeKey, ExampleOfTheRfc) {  // RFC 6455 §1.3
  EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

// Lengths around the end of a block, where padding is easy to get wrong.
TEST(HandshakeKey, IsSha1WhateverTheLength) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string key(size, static_cast<char>('a' + size % 26));
    const auto digest =
        crypto::hash(crypto::Hash::Sha1, key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    ASSERT_TRUE(digest);
    EXPECT_EQ(accept_key(key), base64::encode(*digest)) << size;
  }
}

TEST(HandshakeKey, Valid) {
  EXPECT_TRUE(is_valid_key("dGhlIHNhbXBsZSBub25jZQ=="));
  EXPECT_TRUE(is_valid_key("AAAAAAAAAAAAAAAAAAAA+/=="));
  EXPECT_FALSE(is_valid_key(""));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub25jZQ="));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub25jZQ==="));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub25jZWU="));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub25jZWVl"));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub-5jZQ=="));
  EXPECT_FALSE(is_valid_key("dGhlIHNhbXBsZSBub 5jZQ=="));
}

TEST(HandshakeKey, EachIsAnother) {
  const std::string one = make_key().value();
  EXPECT_TRUE(is_valid_key(one)) << one;
  EXPECT_EQ(base64::decode(one).value_or("").size(), 16U);
  EXPECT_NE(one, make_key().value());
}

}  // namespace
}  // namespace skua::ws
