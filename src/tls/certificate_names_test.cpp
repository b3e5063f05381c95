// SPDX-License-Identifier: MIT
#include "tls/certificate_names.hpp"

#include <gtest/gtest.h>

namespace skua::tls {
namespace {

TEST(CertificateNames, CoverNamesAsTheyStandWhateverTheCase) {
  const CertificateNames names{{"example.com"}, {}};
  EXPECT_TRUE(names.covers("example.com"));
  EXPECT_TRUE(names.covers("EXAMPLE.com."));
  EXPECT_FALSE(names.covers("www.example.com"));
  EXPECT_FALSE(names.covers("xexample.com"));
  EXPECT_FALSE(names.covers(""));
  EXPECT_FALSE(names.covers("."));
}

// RFC 9525 §6.3
TEST(CertificateNames, AWildcardIsExactlyOneLabel) {
  const CertificateNames names{{"*.example.com"}, {}};
  EXPECT_TRUE(names.covers("www.example.com"));
  EXPECT_FALSE(names.covers("example.com"));
  EXPECT_FALSE(names.covers(".example.com"));
  EXPECT_FALSE(names.covers("a.b.example.com"));
}

TEST(CertificateNames, OddWildcardsStandForNothing) {
  for (const char* name :
       {"*.com", "*", "w*.example.com", "www.*.com", "*.*.com", "*example.com"}) {
    const CertificateNames names{{name}, {}};
    EXPECT_FALSE(names.covers("www.example.com")) << name;
    EXPECT_FALSE(names.covers("example.com")) << name;
  }
}

TEST(CertificateNames, AddressesAreComparedAsNumbersAndNeverAsNames) {
  const CertificateNames names{{"10.0.0.2", "*.0.0.3"},
                               {address_octets("10.0.0.1"), address_octets("2001:db8::1")}};
  EXPECT_TRUE(names.covers("10.0.0.1"));
  EXPECT_TRUE(names.covers("2001:db8:0:0::1"));
  EXPECT_TRUE(names.covers("[2001:DB8::1]"));
  EXPECT_FALSE(names.covers("10.0.0.2"));
  EXPECT_FALSE(names.covers("10.0.0.3"));
}

TEST(CertificateNames, AddressesHaveATextAndBack) {
  for (const char* text : {"10.0.0.1", "255.255.255.255", "::1", "2001:db8::1"}) {
    EXPECT_EQ(address_text(address_octets(text)), text);
  }
  EXPECT_EQ(address_octets("example.com"), "");
  EXPECT_EQ(address_text("abc"), "");
}

TEST(NameIndex, PrefersExactNamesAndThenTheFirstCertificate) {
  NameIndex index;
  index.add({{"*.example.com", "one.example"}, {}}, 0);
  index.add({{"www.example.com", "one.example"}, {}}, 1);
  EXPECT_EQ(index.find("www.example.com"), 1U);
  EXPECT_EQ(index.find("WWW.EXAMPLE.COM"), 1U);
  EXPECT_EQ(index.find("other.example.com"), 0U);
  EXPECT_EQ(index.find("one.example"), 0U);
  EXPECT_EQ(index.find("a.b.example.com"), std::nullopt);
  EXPECT_EQ(index.find("example.com"), std::nullopt);
  EXPECT_EQ(index.find(""), std::nullopt);
}

}  // namespace
}  // namespace skua::tls
