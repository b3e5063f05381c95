// SPDX-License-Identifier: MIT
// Known-answer tests from the standards named in the comments.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/base_encoding.hpp"
#include "crypto/aead.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"

namespace skua::crypto {
namespace {

std::string unhex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(ascii::hex_value(digits[i]) << 4U | ascii::hex_value(digits[i + 1]));
  }
  return bytes;
}

TEST(ConstantTime, IsAsTrueAsOrdinaryComparison) {
  EXPECT_TRUE(equals("", ""));
  EXPECT_TRUE(equals("secret", "secret"));
  EXPECT_FALSE(equals("secret", "secreT"));
  EXPECT_FALSE(equals("secret", "Secret"));
  EXPECT_FALSE(equals("secret", "secre"));
  EXPECT_FALSE(equals(std::string_view("a\0b", 3), std::string_view("a\0c", 3)));
}

TEST(Random, NeverSaysTheSameTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(random_bytes(16).value()).second);
  EXPECT_EQ(random_bytes(0).value(), "");
  const std::string many = random_bytes(1000).value();
  EXPECT_EQ(many.size(), 1000U);
  EXPECT_NE(many.substr(0, 256), many.substr(256, 256));
}

// Tests that need OpenSSL; without it they expect Unsupported and are skipped.
class Crypto : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_available()) return;
    EXPECT_EQ(hash(Hash::Sha256, "abc").error().code(), Errc::Unsupported);
    EXPECT_EQ(hmac(Hash::Sha256, "k", "abc").error().code(), Errc::Unsupported);
    EXPECT_EQ(Aead::derive("secret", "test").error().code(), Errc::Unsupported);
    GTEST_SKIP() << "built without OpenSSL";
  }
};

TEST_F(Crypto, HashesAsTheStandardsSay) {
  // RFC 1321 §A.5, FIPS 180-4 examples
  EXPECT_EQ(hash_hex(Hash::Md5, "").value(), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hash_hex(Hash::Md5, "abc").value(), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hash_hex(Hash::Sha1, "abc").value(), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hash_hex(Hash::Sha256, "abc").value(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_hex(Hash::Sha512256, "abc").value(),
            "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23");
  for (const Hash algorithm : {Hash::Md5, Hash::Sha1, Hash::Sha256, Hash::Sha512256}) {
    EXPECT_EQ(hash(algorithm, "").value().size(), size_bytes(algorithm));
  }
}

TEST_F(Crypto, HashesPiecesAsTheWhole) {
  const std::string text(1000, 'x');
  for (const std::size_t piece : {1U, 7U, 64U, 999U}) {
    Hasher hasher = Hasher::create(Hash::Sha256).value();
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hasher.update(std::string_view(text).substr(at, piece)).value();
    }
    EXPECT_EQ(hasher.finish().value(), hash(Hash::Sha256, text).value());
  }
}

TEST_F(Crypto, AuthenticatesAsTheStandardSays) {
  // RFC 4231 §4.3; RFC 2202 §2
  EXPECT_EQ(hex::encode(hmac(Hash::Sha256, "Jefe", "what do ya want for nothing?").value()),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hex::encode(hmac(Hash::Md5, "Jefe", "what do ya want for nothing?").value()),
            "750c783e6ab0b503eaa86e310a5db738");
  EXPECT_EQ(hex::encode(hmac(Hash::Sha256, {}, {}).value()),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

TEST_F(Crypto, DerivesKeysAsTheStandardSays) {
  // RFC 5869 §A.1, §A.3
  EXPECT_EQ(hex::encode(hkdf_sha256(std::string(22, '\x0b'), unhex("000102030405060708090a0b0c"),
                                    unhex("f0f1f2f3f4f5f6f7f8f9"), 42)
                            .value()),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  EXPECT_EQ(hex::encode(hkdf_sha256(std::string(22, '\x0b'), {}, {}, 42).value()),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
  EXPECT_EQ(hkdf_sha256("secret", {}, {}, 8160).value().size(), 8160U);
  EXPECT_FALSE(hkdf_sha256("secret", {}, {}, 8161));
}

TEST_F(Crypto, EncryptsAsTheStandardSays) {
  // The Galois/Counter Mode of Operation (McGrew, Viega), test cases 13, 14, 16
  const Aead zero = Aead::from_key(std::string(32, '\0'));
  const std::string nonce(12, '\0');
  EXPECT_EQ(hex::encode(zero.seal_with_nonce({}, {}, nonce).value().substr(12)),
            "530f8afbc74536b9a963b4f1c4cb738b");
  EXPECT_EQ(hex::encode(zero.seal_with_nonce(std::string(16, '\0'), {}, nonce).value().substr(12)),
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919");
  const Aead key =
      Aead::from_key(unhex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"));
  const std::string plain = unhex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
      "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
  const std::string associated = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  const std::string sealed =
      key.seal_with_nonce(plain, associated, unhex("cafebabefacedbaddecaf888")).value();
  EXPECT_EQ(hex::encode(sealed.substr(12)),
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
            "76fc6ece0f4e1768cddf8853bb2d551b");
  EXPECT_EQ(key.open(sealed, associated).value(), plain);
}

TEST_F(Crypto, OpensOnlyWhatWasSealed) {
  const Aead key = Aead::derive("a secret", "test").value();
  const std::string sealed = key.seal("hello", "name").value();
  EXPECT_EQ(sealed.size(), 5 + Aead::overhead_bytes);
  EXPECT_EQ(key.open(sealed, "name").value(), "hello");
  EXPECT_NE(sealed, key.seal("hello", "name").value());
  for (std::size_t i = 0; i < sealed.size() * 8; ++i) {
    std::string changed = sealed;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << i % 8));
    EXPECT_EQ(key.open(changed, "name").error().code(), Errc::PermissionDenied) << i;
  }
  for (std::size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(key.open(std::string_view(sealed).substr(0, size), "name")) << size;
  }
  EXPECT_FALSE(key.open(sealed, "other"));
  EXPECT_FALSE(key.open(sealed, ""));
  EXPECT_FALSE(Aead::derive("a secret", "other").value().open(sealed, "name"));
  EXPECT_FALSE(Aead::derive("another secret", "test").value().open(sealed, "name"));
  EXPECT_EQ(key.open(key.seal("", "").value(), "").value(), "");
}

}  // namespace
}  // namespace skua::crypto
