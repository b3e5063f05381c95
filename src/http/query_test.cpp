// SPDX-License-Identifier: MIT
#include "http/query.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::http {
namespace {

std::string pairs(std::string_view query) {
  std::string out;
  while (const auto pair = take_pair(query)) {
    out.append(pair->name).append("->").append(pair->value).append(";");
  }
  return out;
}

TEST(Query, TakesPairs) {
  EXPECT_EQ(pairs(""), "");
  EXPECT_EQ(pairs("a=b&c=d"), "a->b;c->d;");
  EXPECT_EQ(pairs("&&a&=b&c==&"), "a->;->b;c->=;");
}

TEST(Query, DecodesAForm) {
  const auto decoded = [](std::string_view encoded) {
    std::string out(encoded.size(), '\0');
    out.resize(decode_form(encoded, out.data()));
    return out;
  };
  EXPECT_EQ(decoded("a+b%20c"), "a b c");
  EXPECT_EQ(decoded("%41%c3%BC"), "A\xc3\xbc");
  EXPECT_EQ(decoded("100%"), "100%");
  EXPECT_EQ(decoded("%4"), "%4");
  EXPECT_EQ(decoded("%zz%41"), "%zzA");
}

TEST(Query, ComparesWhileDecoding) {
  EXPECT_TRUE(decodes_to("a%20b", "a b"));
  EXPECT_TRUE(decodes_to("", ""));
  EXPECT_FALSE(decodes_to("a%20b", "a b "));
  EXPECT_FALSE(decodes_to("a%20b", "a "));
  EXPECT_FALSE(decodes_to("ab", "a"));
  EXPECT_FALSE(decodes_to("a", "ab"));
}

TEST(Query, KnowsWhatIsEncoded) {
  EXPECT_TRUE(is_encoded("a+b"));
  EXPECT_TRUE(is_encoded("%41"));
  EXPECT_FALSE(is_encoded("a-b"));
}

}  // namespace
}  // namespace skua::http
