// SPDX-License-Identifier: MIT
#include "skua/form.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua {
namespace {

std::string fields_of(const Form& form) {
  std::string out;
  for (const auto [name, value] : form) out.append(name).append("->").append(value).append(";");
  return out;
}

std::string read(std::string_view text) { return fields_of(Form::parse(text).value()); }

TEST(Form, ReadsFieldsInTheirOrder) {
  EXPECT_EQ(read(""), "");
  EXPECT_EQ(read("b=1&a=2&b=3"), "b->1;a->2;b->3;");
  EXPECT_EQ(read("&&a&=b&c==&"), "a->;->b;c->=;");
  EXPECT_EQ(read("="), "->;");
}

TEST(Form, DecodesNamesAndValues) {
  EXPECT_EQ(read("a+b=c+d"), "a b->c d;");
  EXPECT_EQ(read("%61%3d=%26%2B%25"), "a=->&+%;");
  EXPECT_EQ(read("n=%c3%BC"), "n->\xc3\xbc;");
  EXPECT_EQ(read("n=%00").size(), 5U);
}

TEST(Form, KeepsWhatIsNoPercentEncoding) {
  EXPECT_EQ(read("a=100%&b=%4&c=%zz&d=%%41"), "a->100%;b->%4;c->%zz;d->%A;");
}

TEST(Form, FindsFieldsByTheirExactName) {
  const Form form = Form::parse("tag=a&Tag=b&tag=c&empty=").value();
  EXPECT_EQ(form.get("tag"), "a");
  EXPECT_EQ(form.get("Tag"), "b");
  EXPECT_EQ(form.get("empty"), "");
  EXPECT_EQ(form.get("none"), std::nullopt);
  std::string all;
  for (const std::string_view tag : form.all("tag")) all += tag;
  EXPECT_EQ(all, "ac");
  for (const std::string_view none : form.all("none")) ADD_FAILURE() << none;
  EXPECT_EQ(form.size(), 4U);
}

TEST(Form, HoldsItsLimits) {
  EXPECT_TRUE(Form::parse("a=1&b=2", {.fields = 2}));
  EXPECT_EQ(Form::parse("a=1&b=2&c", {.fields = 2}).error().code(), Errc::BodyTooLong);
  EXPECT_TRUE(Form::parse("a=1&%62=%32", {.total_bytes = 4}));
  EXPECT_EQ(Form::parse("a=1&b=22", {.total_bytes = 4}).error().code(), Errc::BodyTooLong);
  EXPECT_TRUE(Form::parse("&&&", {.fields = 0, .total_bytes = 0}));
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "a&";
  EXPECT_EQ(Form::parse(many).error().code(), Errc::BodyTooLong);
}

TEST(Form, WritesAsBrowsersDo) {
  const std::string text =
      Form().add("q", "fish & chips").add("a=b", "100%").add("*-._", "~\xc3\xbc\n").to_string();
  EXPECT_EQ(text, "q=fish+%26+chips&a%3Db=100%25&*-._=%7E%C3%BC%0A");
  EXPECT_EQ(Form().to_string(), "");
}

TEST(Form, ReadsWhatItWrites) {
  Form form;
  for (int i = 0; i < 256; ++i) form.add(std::string(1, static_cast<char>(i)), std::to_string(i));
  form.add("", "").add("", "again");
  EXPECT_EQ(Form::parse(form.to_string()).value(), form);
}

TEST(Form, MayBeGrownFromItsOwnFields) {
  Form form;
  form.add("name", "a value that is long enough for the heap");
  for (int i = 0; i < 20; ++i) form.add(*form.get("name"), *form.get("name"));
  EXPECT_EQ(form.size(), 21U);
  for (const auto [name, value] : form) EXPECT_TRUE(value.starts_with("a value")) << name;
}

}  // namespace
}  // namespace skua
