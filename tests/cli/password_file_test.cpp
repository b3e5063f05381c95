// SPDX-License-Identifier: MIT
#include "serve/auth/password_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "cli/hashes.hpp"
#include "serve/auth/password_hash.hpp"

namespace skua::cli {
namespace {

using namespace test::hashes;

class PasswordFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_password_hashes()) GTEST_SKIP() << "this build has no libcrypt";
  }
};

std::string flaw_of(const std::string& text) {
  const auto file = PasswordFile::parse(text);
  return file ? "it was taken" : file.error().text;
}

TEST_F(PasswordFileTest, KnowsEveryStrongMethod) {
  for (const char* const hash : {bcrypt, sha256, sha512, yescrypt}) {
    const auto file = PasswordFile::parse(std::string("ada:") + hash);
    ASSERT_TRUE(file) << file.error().text;
    EXPECT_TRUE(file->verify("ada", "secret")) << hash;
    EXPECT_FALSE(file->verify("ada", "Secret")) << hash;
    EXPECT_FALSE(file->verify("ada", "")) << hash;
    EXPECT_FALSE(file->verify("bob", "secret")) << hash;
  }
}

TEST_F(PasswordFileTest, SkipsCommentsAndTakesAnyLineEnd) {
  const auto file =
      PasswordFile::parse(std::string("# staff\r\n\r\nada:") + bcrypt + "\r\nbob:" + sha256);
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_TRUE(file->verify("ada", "secret"));
  EXPECT_TRUE(file->verify("bob", "secret"));
  EXPECT_FALSE(file->verify("# staff", "secret"));
}

TEST_F(PasswordFileTest, RefusesWeakHashesWithoutRevealingThem) {
  const std::string advice = "\nMake a new line with `htpasswd -nB ada`.";
  const std::string user = "line 1: the password of ada ";
  EXPECT_EQ(flaw_of("ada:$apr1$abcdefgh$Jv1Qp0dGpCzP4SmrC.8Zs1"),
            user + "is hashed with MD5, which is too weak" + advice);
  EXPECT_EQ(flaw_of("ada:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="),
            user + "is hashed with SHA-1, which is too weak" + advice);
  for (const char* const text : {"ada:secret", "ada:", "ada:ab01FAX.bQRSU", "ada:!", "ada:*"}) {
    EXPECT_EQ(flaw_of(text), user + "is not hashed, or in a way that is too weak" + advice);
  }
  EXPECT_EQ(flaw_of("ada:$99$x"), user + "is hashed in an unknown way" + advice);
}

TEST_F(PasswordFileTest, RefusesHashesThatAreCutOrContinued) {
  const std::string flaw = "has a hash that is incomplete, or too long";
  for (const std::string hash : {bcrypt, sha256, sha512, yescrypt}) {
    EXPECT_NE(flaw_of("ada:" + hash.substr(0, hash.size() - 1)).find(flaw), std::string::npos);
    EXPECT_NE(flaw_of("ada:" + hash + ":").find(flaw), std::string::npos);
    EXPECT_NE(flaw_of("ada:" + hash + " ").find(flaw), std::string::npos);
  }
}

TEST_F(PasswordFileTest, RefusesMalformedFiles) {
  const std::string line = std::string("ada:") + bcrypt + "\n";
  EXPECT_EQ(flaw_of(""), "it names no user");
  EXPECT_EQ(flaw_of("# nobody\n"), "it names no user");
  EXPECT_EQ(flaw_of(line + "bob"), "line 2: it is not USER:HASH");
  EXPECT_EQ(flaw_of(":" + line), "line 1: it is not USER:HASH");
  EXPECT_EQ(flaw_of(line + "\n" + line), "line 3: the user ada is there already");
  EXPECT_EQ(flaw_of("a\x1B" + line), "line 1: the name contains a control character");
}

TEST_F(PasswordFileTest, RemembersALoginOnceItIsVerified) {
  const auto file = PasswordFile::parse(std::string("ada:") + bcrypt + "\nbob:" + sha256);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->is_verified("ada", "secret"));
  EXPECT_FALSE(file->verify("ada", "wrong"));
  EXPECT_FALSE(file->is_verified("ada", "wrong"));
  EXPECT_TRUE(file->verify("ada", "secret"));
  EXPECT_TRUE(file->is_verified("ada", "secret"));
  EXPECT_FALSE(file->is_verified("ada", "secre"));
  EXPECT_FALSE(file->is_verified("bob", "secret"));
  EXPECT_FALSE(file->is_verified("ada:secret", ""));
}

TEST_F(PasswordFileTest, AFileThatReplacesOneKnowsTheLoginsWhoseHashesStay) {
  const auto old = PasswordFile::parse(std::string("ada:") + bcrypt + "\nbob:" + bcrypt);
  auto now = PasswordFile::parse(std::string("bob:") + sha256 + "\nada:" + bcrypt);
  ASSERT_TRUE(old && now);
  EXPECT_TRUE(old->verify("ada", "secret"));
  EXPECT_TRUE(old->verify("bob", "secret"));
  now->take_over(*old);
  EXPECT_TRUE(now->is_verified("ada", "secret"));
  EXPECT_FALSE(now->is_verified("bob", "secret"));
}

TEST_F(PasswordFileTest, APasswordDoesNotEndAtANulByte) {
  const auto file = PasswordFile::parse(std::string("ada:") + bcrypt);
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->verify("ada", std::string("secret\0x", 8)));
}

}  // namespace
}  // namespace skua::cli
