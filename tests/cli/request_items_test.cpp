// SPDX-License-Identifier: MIT
#include "get/request_items.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "support/temporary_directory.hpp"

namespace skua::cli {
namespace {

RequestItems items_of(const std::vector<std::string>& words) {
  RequestItems items;
  for (const std::string& word : words) {
    const auto added = add_item(items, word);
    EXPECT_TRUE(added) << added.error().text;
  }
  return items;
}

std::string refusal_of(std::string_view word) {
  RequestItems items;
  const auto added = add_item(items, word);
  return added ? "it was taken" : added.error().text;
}

std::string json_of(const std::vector<std::string>& words) {
  const auto json = json_object(items_of(words).data);
  return json ? *json : json.error().text;
}

TEST(RequestItems, EachSeparatorIsAKind) {
  const RequestItems items =
      items_of({"X-A: b:c=d ", "Accept:", "q==a=b", "n=1", "m:=[1]", "l=@t", "k:=@u", "f@p"});
  ASSERT_EQ(items.fields.size(), 2U);
  EXPECT_EQ(items.fields[0].name, "X-A");
  EXPECT_EQ(items.fields[0].value, "b:c=d");
  EXPECT_EQ(items.fields[1].name, "Accept");
  EXPECT_EQ(items.fields[1].value, std::nullopt);
  ASSERT_EQ(items.query.size(), 1U);
  EXPECT_EQ(items.query[0], std::make_pair(std::string("q"), std::string("a=b")));
  ASSERT_EQ(items.data.size(), 4U);
  EXPECT_EQ(items.data[0].value, "1");
  EXPECT_TRUE(items.data[1].is_json && !items.data[1].is_path);
  EXPECT_TRUE(!items.data[2].is_json && items.data[2].is_path);
  EXPECT_TRUE(items.data[3].is_json && items.data[3].is_path);
  EXPECT_EQ(items.data[3].value, "u");
  ASSERT_EQ(items.files.size(), 1U);
  EXPECT_EQ(items.files[0].path, "p");
  EXPECT_EQ(items.files[0].type, "");
}

TEST(RequestItems, TheFirstSeparatorCounts) {
  EXPECT_EQ(items_of({"a=b:c"}).data[0].value, "b:c");
  EXPECT_EQ(items_of({"a=@b"}).data[0].value, "b");
  EXPECT_EQ(items_of({"mail=a@b.c"}).data[0].value, "a@b.c");
  EXPECT_EQ(items_of({"a@b=c"}).files[0].path, "b=c");
  EXPECT_EQ(items_of({"a="}).data[0].value, "");
}

TEST(RequestItems, ABackslashHidesASeparatorOfTheName) {
  EXPECT_EQ(items_of({"a\\:b=c"}).data[0].name, "a:b");
  EXPECT_EQ(items_of({"a\\=\\=b==c"}).query[0].first, "a==b");
  EXPECT_EQ(items_of({"a\\\\=b"}).data[0].name, "a\\");
  EXPECT_EQ(items_of({"a\\n=b"}).data[0].name, "a\\n");
  EXPECT_EQ(items_of({"a=C:\\\\x\\="}).data[0].value, "C:\\\\x\\=");  // values are not unescaped
}

TEST(RequestItems, AFileMayHaveAType) {
  const RequestItems items = items_of({"f@a;b.png;type=image/png"});
  EXPECT_EQ(items.files[0].path, "a;b.png");
  EXPECT_EQ(items.files[0].type, "image/png");
}

TEST(RequestItems, WhatIsWrongIsSaid) {
  EXPECT_EQ(refusal_of("word"),
            "'word' is not Name:value, name==value, name=value, name:=json or name@FILE");
  EXPECT_EQ(refusal_of("=x"), "'=x' has no name before the '='");
  EXPECT_EQ(refusal_of("@x"),
            "'@x' has no name before the '@'; use --data @FILE to send a file as is");
  EXPECT_EQ(refusal_of("a:={"), "'a:={' has no valid JSON after ':='; use name=value for a string");
  EXPECT_EQ(refusal_of("a@"), "'a@' has no file name after the @");
  EXPECT_EQ(refusal_of("a=@"), "'a=@' has no file name after the @");
  EXPECT_EQ(refusal_of("a@b;type=png"),
            "'a@b;type=png' has an invalid media type 'png': expected type/subtype");
  EXPECT_TRUE(refusal_of("a b: c").starts_with("'a b: c' is not a header: "))
      << refusal_of("a b: c");
  EXPECT_TRUE(refusal_of("a:b\r\nc:d").starts_with("'a:b\r\nc:d' is not a header: "));
}

TEST(RequestItems, DataIsAnObject) {
  EXPECT_EQ(json_of({"a=b\"c", "n:=1e3", "o:= {\"x\": [1, 2]}"}),
            R"({"a":"b\"c","n":1e3,"o": {"x": [1, 2]}})");
  EXPECT_EQ(json_of({}), "{}");
  EXPECT_EQ(json_of({"a=1", "a=2"}), "'a' is given twice; for a list, use a:='[1, 2]'");
  EXPECT_EQ(json_of({"a=\xff"}), "'a' cannot be a JSON string: the text given is not UTF-8");
}

TEST(RequestItems, ValuesAreReadFromFiles) {
  const support::TemporaryDirectory folder;
  folder.write("text", "line\n");
  folder.write("json", "{\"a\":\n1}");
  const std::string text = (folder / "text").string();
  const std::string json = (folder / "json").string();
  EXPECT_EQ(json_of({"t=@" + text, "j:=@" + json}), "{\"t\":\"line\\u000A\",\"j\":{\"a\":\n1}}");
  EXPECT_EQ(json_of({"j:=@" + text}), "'j' from " + text + " is not JSON");
  const auto missing = json_object(items_of({"a=@/nowhere/x"}).data);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Errc::NotFound);
  EXPECT_TRUE(missing.error().text.starts_with("cannot read /nowhere/x: "));
}

TEST(RequestItems, DataIsAForm) {
  const auto fields = form_fields(items_of({"a=1", "a=x y", "b="}).data);
  ASSERT_TRUE(fields);
  ASSERT_EQ(fields->size(), 3U);
  EXPECT_EQ((*fields)[1].second, "x y");
  const auto json = form_fields(items_of({"a:=1"}).data);
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().text, "'a' is JSON, which a form cannot contain");
}

}  // namespace
}  // namespace skua::cli
