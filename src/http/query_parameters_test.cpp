// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "skua/query.hpp"
#include "skua/url.hpp"

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
