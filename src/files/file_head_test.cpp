// SPDX-License-Identifier: MIT
#include "files/file_head.hpp"

#include <gtest/gtest.h>

#include <set>

#include "http/message/conditional.hpp"

namespace skua::files {
namespace {

constexpr WallTime now{std::chrono::seconds(1'700'000'000)};

FileStat stat_of_age(std::chrono::nanoseconds age) {
  FileStat stat;
  stat.size_bytes = 500;
  stat.modified_ns = (now - age).time_since_epoch().count();
  stat.inode = 42;
  return stat;
}

TEST(Etag, IsWellFormed) {
  const std::string tag = make_etag(stat_of_age(std::chrono::hours(1)), now);
  const auto parsed = http::parse_entity_tag(tag);
  ASSERT_TRUE(parsed);
  EXPECT_FALSE(parsed->weak);
  EXPECT_TRUE(parsed->opaque.starts_with("1f4-"));
}

TEST(Etag, DiffersWithTimeSizeAndInode) {
  std::set<std::string> tags;
  const FileStat base = stat_of_age(std::chrono::hours(1));
  for (int i = 0; i < 100; ++i) {
    const auto step = static_cast<std::uint64_t>(i);
    FileStat stat = base;
    stat.modified_ns += i;
    tags.insert(make_etag(stat, now));
    stat = base;
    stat.size_bytes += step;
    tags.insert(make_etag(stat, now));
    stat = base;
    stat.inode += step;
    tags.insert(make_etag(stat, now));
  }
  EXPECT_EQ(tags.size(), 1u + 3u * 99u);
}

TEST(Etag, IsTheSameAfterALinkOrAChangeOfMode) {
  FileStat stat = stat_of_age(std::chrono::hours(1));
  const std::string before = make_etag(stat, now);
  stat.changed_ns += 1;
  EXPECT_EQ(make_etag(stat, now), before);
}

TEST(Etag, IsWeakWhileAnotherWriteCouldHideInTheSameTick) {
  EXPECT_TRUE(make_etag(stat_of_age(std::chrono::milliseconds(5)), now).starts_with("W/"));
  EXPECT_TRUE(make_etag(stat_of_age(std::chrono::milliseconds(-5)), now).starts_with("W/"));
  EXPECT_TRUE(make_etag(stat_of_age(std::chrono::milliseconds(1999)), now).starts_with("W/"));
  EXPECT_FALSE(make_etag(stat_of_age(std::chrono::seconds(2)), now).starts_with("W/"));
  EXPECT_FALSE(make_etag(stat_of_age(std::chrono::hours(-1)), now).starts_with("W/"));
}

// Another write may have come after it.
TEST(Etag, IsAnotherTextOnceItIsStrong) {
  const FileStat stat = stat_of_age(std::chrono::milliseconds(5));
  const std::string weak = make_etag(stat, now);
  const std::string strong = make_etag(stat, now + std::chrono::hours(1));
  EXPECT_FALSE(http::weakly_equal(*http::parse_entity_tag(weak), *http::parse_entity_tag(strong)));
}

TEST(Etag, IsStrongAtOnceForWhatThisProcessHasWritten) {
  FileStat stat = stat_of_age(std::chrono::milliseconds(5));
  stat.inode = 4711;
  note_written(stat);
  const std::string tag = make_etag(stat, now);
  EXPECT_FALSE(tag.starts_with("W/"));
  EXPECT_EQ(make_etag(stat, now + std::chrono::hours(1)), tag);
  stat.modified_ns += 1;
  EXPECT_TRUE(make_etag(stat, now).starts_with("W/")) << "something else has changed it";
}

}  // namespace
}  // namespace skua::files
