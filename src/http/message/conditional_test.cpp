// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "http/message/conditional.hpp"

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
namespace {

using enum FieldName;
using Lines = std::vector<std::pair<FieldName, std::string>>;

constexpr std::chrono::sys_seconds modified{std::chrono::seconds(784'111'777)};
constexpr std::chrono::sys_seconds now = modified + std::chrono::hours(24);
constexpr const char* same = "Sun, 06 Nov 1994 08:49:37 GMT";
constexpr const char* earlier = "Sun, 06 Nov 1994 08:49:36 GMT";
constexpr const char* later = "Sun, 06 Nov 1994 08:49:38 GMT";
constexpr Validators current{.etag = "\"now\"", .modified = modified};

// A head with only these lines.
class TestHead {
 public:
  explicit TestHead(const Lines& lines, Method method = Method::Get) {
    for (const auto& [name, value] : lines) {
      FieldLine line;
      line.name = name;
      line.value_begin = static_cast<std::uint32_t>(text_.size());
      line.value_bytes = static_cast<std::uint16_t>(value.size());
      text_ += value;
      fields_.push_back(line);
      head_.known |= std::uint64_t{1} << static_cast<unsigned>(name);
    }
    head_.base = text_.data();
    head_.fields = fields_;
    head_.method = method;
  }
  const Head& operator*() const { return head_; }

 private:
  std::string text_;
  std::vector<FieldLine> fields_;
  Head head_;
};

Precondition check(const Lines& lines, Method method = Method::Get,
                   const Validators& state = current) {
  return check_preconditions(*TestHead(lines, method), state, now);
}

TEST(Conditional, WithoutConditionsTheRequestProceeds) {
  EXPECT_EQ(check({}), Precondition::Proceed);
  EXPECT_EQ(check({{Accept, "*"}}), Precondition::Proceed);
}

TEST(Conditional, IfNoneMatchComparesWeaklyAndKnowsListsAndStars) {
  for (const char* value :
       {"\"now\"", "W/\"now\"", "\"a\", \"now\"", "*", " * ", "\"a\",W/\"now\","}) {
    EXPECT_EQ(check({{IfNoneMatch, value}}), Precondition::NotModified) << value;
    EXPECT_EQ(check({{IfNoneMatch, value}}, Method::Head), Precondition::NotModified) << value;
    EXPECT_EQ(check({{IfNoneMatch, value}}, Method::Put), Precondition::Failed) << value;
  }
  for (const char* value :
       {"\"then\"", "now", "", "\"now", "\"a\" \"now\"", "*, \"a\"", "w/\"now\""}) {
    EXPECT_EQ(check({{IfNoneMatch, value}}), Precondition::Proceed) << value;
  }
  EXPECT_EQ(check({{IfNoneMatch, "\"a\""}, {IfNoneMatch, "\"now\""}}), Precondition::NotModified);
}

TEST(Conditional, IfMatchNamesAVersionByItsStrongTag) {
  const Validators weak{.etag = "W/\"now\"", .modified = modified};
  EXPECT_EQ(check({{IfMatch, "\"now\""}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfMatch, "*"}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfMatch, "\"a\""}, {IfMatch, "\"now\""}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfMatch, "W/\"now\""}}), Precondition::Proceed);  // as compression() made it
  EXPECT_EQ(check({{IfMatch, "W/\"then\""}}), Precondition::Failed);
  EXPECT_EQ(check({{IfMatch, "\"now\""}}, Method::Get, weak), Precondition::Failed);
  EXPECT_EQ(check({{IfMatch, "W/\"now\""}}, Method::Put, weak), Precondition::Failed);
  EXPECT_EQ(check({{IfMatch, "\"then\""}}), Precondition::Failed);
  EXPECT_EQ(check({{IfMatch, "nonsense"}}), Precondition::Failed);
}

TEST(Conditional, AStarMatchesOnlyWhatExists) {
  const Validators nothing{.exists = false};
  EXPECT_EQ(check({{IfMatch, "*"}}, Method::Put, nothing), Precondition::Failed);
  EXPECT_EQ(check({{IfNoneMatch, "*"}}, Method::Put, nothing), Precondition::Proceed);
  EXPECT_EQ(check({{IfNoneMatch, "*"}}, Method::Put), Precondition::Failed);
}

TEST(Conditional, DatesCompareToTheSecond) {
  EXPECT_EQ(check({{IfModifiedSince, same}}), Precondition::NotModified);
  EXPECT_EQ(check({{IfModifiedSince, later}}), Precondition::NotModified);
  EXPECT_EQ(check({{IfModifiedSince, earlier}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfModifiedSince, later}}, Method::Post), Precondition::Proceed);
  EXPECT_EQ(check({{IfUnmodifiedSince, same}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfUnmodifiedSince, earlier}}), Precondition::Failed);
  EXPECT_EQ(check({{IfModifiedSince, later}}, Method::Get, {.etag = "\"a\""}),
            Precondition::Proceed);
}

TEST(Conditional, IgnoresDatesThatCannotBeRead) {
  for (const char* date : {"", "yesterday", "0", "Sun, 06 Nov 1994 08:49:37", "784111777"}) {
    EXPECT_EQ(check({{IfModifiedSince, date}}), Precondition::Proceed) << date;
    EXPECT_EQ(check({{IfUnmodifiedSince, date}}), Precondition::Proceed) << date;
  }
  EXPECT_EQ(check({{IfModifiedSince, later}, {IfModifiedSince, later}}), Precondition::Proceed);
}

TEST(Conditional, TagsOverruleDates) {
  EXPECT_EQ(check({{IfNoneMatch, "\"then\""}, {IfModifiedSince, later}}), Precondition::Proceed);
  EXPECT_EQ(check({{IfModifiedSince, earlier}, {IfNoneMatch, "\"now\""}}),
            Precondition::NotModified);
  EXPECT_EQ(check({{IfMatch, "\"now\""}, {IfUnmodifiedSince, earlier}}), Precondition::Proceed);
}

TEST(Conditional, AFailedMatchComesBeforeNotModified) {
  EXPECT_EQ(check({{IfNoneMatch, "\"now\""}, {IfMatch, "\"then\""}}), Precondition::Failed);
  EXPECT_EQ(check({{IfNoneMatch, "\"now\""}, {IfUnmodifiedSince, earlier}}), Precondition::Failed);
  EXPECT_EQ(check({{IfNoneMatch, "\"now\""}, {IfMatch, "\"now\""}}), Precondition::NotModified);
}

TEST(IfRange, NeedsAStrongTagOrTheExactDate) {
  const auto applies = [](const Lines& lines, const Validators& state = current) {
    return range_applies(*TestHead(lines), state, now);
  };
  EXPECT_TRUE(applies({}));
  EXPECT_TRUE(applies({{IfRange, "\"now\""}}));
  EXPECT_TRUE(applies({{IfRange, same}}));
  EXPECT_FALSE(applies({{IfRange, "W/\"now\""}}));
  EXPECT_FALSE(applies({{IfRange, "\"now\""}}, {.etag = "W/\"now\""}));
  EXPECT_FALSE(applies({{IfRange, "\"then\""}}));
  EXPECT_FALSE(applies({{IfRange, "\"now\", \"then\""}}));
  EXPECT_FALSE(applies({{IfRange, "*"}}));
  EXPECT_FALSE(applies({{IfRange, later}}));
  EXPECT_FALSE(applies({{IfRange, earlier}}));
  EXPECT_FALSE(applies({{IfRange, ""}}));
  EXPECT_FALSE(applies({{IfRange, "\"now\""}, {IfRange, "\"now\""}}));
  EXPECT_FALSE(range_applies(*TestHead({{IfRange, same}}), current, modified));
}

}  // namespace
}  // namespace skua::http
