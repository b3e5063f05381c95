// SPDX-License-Identifier: MIT
#include "files/dav/request_fields.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace skua::files {
namespace {

bool holds(std::string_view text) {
  const std::map<std::string_view, std::string> tags = {{"", "\"own\""}, {"/b", "\"b]\""}};
  const auto field = IfField::parse(text);
  EXPECT_TRUE(field) << text;
  return field && field->holds([&](std::string_view url) {
    const auto found = tags.find(url);
    return found == tags.end() ? std::string() : found->second;
  });
}

TEST(IfField, OneListMustHoldAndAllOfItsConditions) {
  EXPECT_TRUE(holds("([\"own\"])"));
  EXPECT_FALSE(holds("([\"other\"])"));
  EXPECT_TRUE(holds("([\"other\"]) ([\"own\"])"));
  EXPECT_FALSE(holds("([\"own\"] [\"other\"])"));
  EXPECT_TRUE(holds("([\"own\"] Not [\"other\"])"));
  EXPECT_TRUE(holds("  (not[\"other\"])\t"));
}

TEST(IfField, NoStateTokenMatches) {
  EXPECT_FALSE(holds("(<urn:uuid:1>)"));
  EXPECT_TRUE(holds("(Not <DAV:no-lock>)"));
  EXPECT_FALSE(holds("([\"own\"] <urn:uuid:1>)"));
}

TEST(IfField, TagsSelectTheResource) {
  EXPECT_TRUE(holds("</b> ([\"b]\"])"));
  EXPECT_FALSE(holds("</b> ([\"own\"])"));
  EXPECT_FALSE(holds("</none> ([\"own\"])"));
  EXPECT_TRUE(holds("</none> (Not [\"own\"])"));
  EXPECT_TRUE(holds("</none> ([\"x\"]) ([\"y\"]) </b> ([\"z\"]) ([\"b]\"])"));
}

TEST(IfField, AWeakFormOfATagNamesItsVersion) {
  EXPECT_TRUE(holds("([W/\"own\"])"));
  EXPECT_FALSE(holds("(Not [W/\"own\"])"));
  EXPECT_FALSE(holds("([W/\"other\"])"));
}

TEST(IfField, MalformedOnesAreRefused) {
  for (const std::string_view text : {"",
                                      " ",
                                      "()",
                                      "(",
                                      ")",
                                      "([\"a\"]",
                                      "([\"a\")",
                                      "([a])",
                                      "([])",
                                      "(<>)",
                                      "(<a)",
                                      "(Not)",
                                      "<a>",
                                      "<a> <b> ([\"a\"])",
                                      "<> ([\"a\"])",
                                      "([\"a\"]) <a> ([\"b\"])",
                                      "x",
                                      "([\"a\"]) x",
                                      "(Not Not [\"a\"])",
                                      "(\"a\")"}) {
    EXPECT_FALSE(IfField::parse(text)) << text;
  }
  EXPECT_FALSE(IfField::parse(std::string(100'000, '(')));
}

}  // namespace
}  // namespace skua::files
