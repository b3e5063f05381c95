// SPDX-License-Identifier: MIT
#include "http/entity_tag.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skua::http {
namespace {

std::vector<std::string> all(std::string_view line) {
  std::vector<std::string> tags;
  EntityTagList list(line);
  while (const auto tag = list.next()) {
    tags.push_back((tag->weak ? "W:" : "S:") + std::string(tag->opaque));
  }
  return tags;
}

TEST(EntityTag, ReadsStrongAndWeakTags) {
  EXPECT_EQ(parse_entity_tag("\"abc\"")->opaque, "abc");
  EXPECT_FALSE(parse_entity_tag("\"abc\"")->weak);
  EXPECT_EQ(parse_entity_tag("W/\"abc\"")->opaque, "abc");
  EXPECT_TRUE(parse_entity_tag("W/\"abc\"")->weak);
  EXPECT_EQ(parse_entity_tag("\"\"")->opaque, "");
  EXPECT_EQ(parse_entity_tag("\"\xE9!\"")->opaque, "\xE9!");
}

TEST(EntityTag, RefusesWhatIsNotExactlyOneTag) {
  for (const std::string_view text :
       {"", "abc", "\"abc", "abc\"", "w/\"abc\"", "W/", "W/abc", "\"a\"b", "\"a\" ", " \"a\"",
        "\"a b\"", "\"a\x7F\"", "*", "\"a\",\"b\"", "W/W/\"a\"", "'a'"}) {
    EXPECT_FALSE(parse_entity_tag(text)) << text;
  }
  EXPECT_FALSE(parse_entity_tag(std::string_view("\"a\0b\"", 5)));
}

// The table of RFC 9110 §8.8.3.2.
TEST(EntityTag, ComparesAsTheTableOfTheStandardDoes) {
  const EntityTag weak{"1", true};
  const EntityTag strong{"1", false};
  EXPECT_FALSE(strongly_equal(weak, weak));
  EXPECT_TRUE(weakly_equal(weak, weak));
  EXPECT_FALSE(strongly_equal(weak, EntityTag{"2", true}));
  EXPECT_FALSE(weakly_equal(weak, EntityTag{"2", true}));
  EXPECT_FALSE(strongly_equal(weak, strong));
  EXPECT_TRUE(weakly_equal(weak, strong));
  EXPECT_TRUE(strongly_equal(strong, strong));
  EXPECT_TRUE(weakly_equal(strong, strong));
}

TEST(EntityTag, ReadsListsWithCommasInsideTagsAndEmptyElements) {
  EXPECT_EQ(all(R"("a", W/"b","c")"), (std::vector<std::string>{"S:a", "W:b", "S:c"}));
  EXPECT_EQ(all(R"(,, "a,b" ,	"c",)"), (std::vector<std::string>{"S:a,b", "S:c"}));
  EXPECT_TRUE(all("").empty());
  EXPECT_TRUE(all(" , ,").empty());
}

TEST(EntityTag, EndsAListAtItsFirstMalformedElement) {
  EXPECT_EQ(all(R"("a", b, "c")"), (std::vector<std::string>{"S:a"}));
  EXPECT_TRUE(all(R"("a" "b")").empty());
  EXPECT_TRUE(all("\"a").empty());
  EXPECT_TRUE(all("*").empty());
}

}  // namespace
}  // namespace skua::http
