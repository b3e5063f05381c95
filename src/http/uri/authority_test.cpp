// SPDX-License-Identifier: MIT
#include "http/uri/authority.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

TEST(Authority, AcceptsNamesAddressesAndPorts) {
  for (const char* text :
       {"localhost", "a.b-c_d~e", "127.0.0.1:8080", "h:", "h:0", "h:65535", "[::]", "[::1]:80",
        "[1:2:3:4:5:6:7:8]", "[fe80::1]", "[::ffff:1.2.3.4]", "[1::]", "[1:2:3:4:5:6:1.2.3.4]",
        "[1::8]", "[1:2:3:4:5:6:7::]", "xn--a.", "a+b"}) {
    EXPECT_TRUE(is_authority(text)) << text;
  }
}

TEST(Authority, RefusesEverythingElse) {
  for (const char* text : {"",
                           ":80",
                           "a b",
                           "a/b",
                           "a@b",
                           "a,b",
                           "a%41",
                           "a:80:80",
                           "a:65536",
                           "a:+80",
                           "a: 80",
                           "a:8o",
                           "[::1",
                           "::1",
                           "[]",
                           "[:]",
                           "[:::]",
                           "[1::2::3]",
                           "[12345::]",
                           "[1:2:3:4:5:6:7:8:9]",
                           "[1:2:3:4:5:6:7]",
                           "[1:2:3:4:5:6:7:8::]",
                           "[::1]a",
                           "[fe80::1%25eth0]",
                           "[v1.a]",
                           "[::1.2.3]",
                           "[::1.2.3.256]",
                           "[::01.2.3.4]",
                           "[1:]",
                           "[:1]",
                           "a\x80",
                           "a[b]",
                           "a?b",
                           "a#b",
                           "a\\b",
                           "<a>"}) {
    EXPECT_FALSE(is_authority(text)) << text;
  }
  EXPECT_FALSE(is_authority(std::string(256, 'a')));
}

TEST(Authority, TellsTheHost) {
  EXPECT_EQ(host_of("a.b:80"), "a.b");
  EXPECT_EQ(host_of("a.b:"), "a.b");
  EXPECT_EQ(host_of("a.b"), "a.b");
  EXPECT_EQ(host_of("[::1]:80"), "[::1]");
  EXPECT_EQ(host_of("[::1]"), "[::1]");
}

TEST(Authority, ComparesLettersInAnyCaseAndFillsInThePort) {
  EXPECT_TRUE(is_same_authority("A.b", "a.B:80", 80));
  EXPECT_TRUE(is_same_authority("a:", "a", 80));
  EXPECT_TRUE(is_same_authority("[::A]:443", "[::a]", 443));
  EXPECT_FALSE(is_same_authority("a:81", "a", 80));
  EXPECT_FALSE(is_same_authority("a", "b", 80));
}

}  // namespace
}  // namespace skua::http
