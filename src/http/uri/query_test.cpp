// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "http/uri/query.hpp"
#include "skua/query.hpp"
#include "skua/url.hpp"

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

namespace skua {
namespace {

std::string listed(std::string_view query) {
  std::string out;
  for (const auto& [name, value] : QueryView(query)) out += name + "->" + value + ";";
  return out;
}

TEST(QueryView, DecodesPairsInOrder) {
  EXPECT_EQ(listed(""), "");
  EXPECT_EQ(listed("a=b+c&%61=%26&d"), "a->b c;a->&;d->;");
  EXPECT_EQ(listed("&&a&=b&c==&"), "a->;->b;c->=;");
  EXPECT_EQ(listed("a=100%&b=%4"), "a->100%;b->%4;");
}

TEST(QueryView, FindsTheFirstAndAllOfAName) {
  const QueryView view("tag=a&x=1&t%61g=b+c&tags=d");
  EXPECT_EQ(view.first("tag"), "a");
  EXPECT_EQ(view.all("tag"), (std::vector<std::string>{"a", "b c"}));
  EXPECT_EQ(view.first("y"), std::nullopt);
  EXPECT_TRUE(view.all("y").empty());
  EXPECT_TRUE(view.has("x"));
  EXPECT_FALSE(view.has("ta"));
}

TEST(QueryBuilder, EncodesWhateverItIsGiven) {
  EXPECT_EQ(QueryBuilder().to_string(), "");
  EXPECT_EQ(QueryBuilder().add("a b", "c&d=e+f").add("\xc3\xbc", "").to_string(),
            "a+b=c%26d%3De%2Bf&%C3%BC=");
  const std::string hostile("&=+%#?\r\n\0;", 10);
  const std::string query = QueryBuilder().add(hostile, hostile).to_string();
  EXPECT_EQ(QueryView(query).first(hostile), hostile);
  EXPECT_TRUE(Url::parse("http://a/?" + query));
}

TEST(QueryBuilder, SetsRemovesAndSorts) {
  QueryBuilder builder("c=1&a=2&c=3&b=4&a=0");
  builder.set("c", "9").set("d", "5");
  EXPECT_EQ(builder.to_string(), "c=9&a=2&b=4&a=0&d=5");
  builder.sort();
  EXPECT_EQ(builder.to_string(), "a=2&a=0&b=4&c=9&d=5");
  builder.remove("a").remove("none");
  EXPECT_EQ(builder.to_string(), "b=4&c=9&d=5");
  builder.set(builder.parameters()[0].name, builder.parameters()[1].value);
  builder.remove(builder.parameters()[1].name);
  EXPECT_EQ(builder.to_string(), "b=9&d=5");
}

}  // namespace
}  // namespace skua
