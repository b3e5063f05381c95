// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "skua/cookie_jar.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

using std::chrono::sys_seconds;

constexpr sys_seconds now{1'800'000'000s};

CookieJar filled() {
  CookieJar jar;
  static_cast<void>(jar.add({.name = "a", .value = "b", .domain = "example.com"}, now));
  return jar;
}

std::size_t count_files(const support::TemporaryDirectory& folder) {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder.path()), {}));
}

TEST(CookieFile, IsSavedAndLoaded) {
  const support::TemporaryDirectory folder;
  const std::string path = (folder / "cookies.txt").string();
  folder.write("cookies.txt", "what was there");
  ASSERT_TRUE(filled().save(path, now));
  EXPECT_EQ(count_files(folder), 1);
  CookieJar jar;
  const auto report = jar.load(path, now);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kept, 1);
  EXPECT_EQ(jar.cookies(now), filled().cookies(now));
}

TEST(CookieFile, IsForItsOwnerAlone) {
  const support::TemporaryDirectory folder;
  const std::string path = (folder / "cookies.txt").string();
  folder.write("cookies.txt", "");
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  ASSERT_TRUE(filled().save(path, now));
  struct ::stat there{};
  ASSERT_EQ(::stat(path.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777U, 0600U);
}

TEST(CookieFile, ThatCannotBeWrittenLeavesNothing) {
  const support::TemporaryDirectory folder;
  EXPECT_EQ(filled().save((folder / "none/cookies.txt").string(), now).error().code(),
            Errc::NotFound);
  folder.make("folder");
  EXPECT_EQ(filled().save((folder / "folder").string(), now).error().code(), Errc::Unsupported);
  EXPECT_EQ(count_files(folder), 1);
  EXPECT_EQ(filled().save("/dev/null", now).error().code(), Errc::Unsupported);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(CookieFile, ThatIsNotThereIsAnError) {
  const support::TemporaryDirectory folder;
  CookieJar jar = filled();
  EXPECT_EQ(jar.load((folder / "none").string(), now).error().code(), Errc::NotFound);
  EXPECT_FALSE(jar.load(folder.string(), now));
  EXPECT_EQ(jar.size(), 1);
}

TEST(CookieFile, ThatNeverEndsIsNotLoaded) {
  EXPECT_EQ(CookieJar().load("/dev/zero", now).error().code(), Errc::BodyTooLong);
}

}  // namespace
}  // namespace skua
