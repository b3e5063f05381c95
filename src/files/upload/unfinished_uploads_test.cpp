// SPDX-License-Identifier: MIT
#include "files/upload/unfinished_uploads.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace skua::files {
namespace {

constexpr UploadOptions limits{
    .max_bytes = 1_GiB, .max_unfinished = 100, .max_unfinished_bytes = 16_GiB};

UploadClaim claim(std::string client, std::optional<std::uint64_t> length = std::nullopt) {
  return {.folder = "/", .length_bytes = length, .client = std::move(client)};
}

TEST(UnfinishedUploads, OneOfUnknownLengthCountsAsWhatHasArrivedAndAStep) {
  UnfinishedUploads uploads;
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(uploads.add("t" + std::to_string(i), claim(""), limits)) << i;
  }
  EXPECT_FALSE(uploads.add("one", claim(""), limits)) << "their number is bounded";
  uploads.remove("t0");
  EXPECT_TRUE(uploads.add("long", claim("", 1_GiB), limits)) << "the others take 6 GiB";
  for (int i = 1; i < 10; ++i) {
    EXPECT_TRUE(uploads.reserve("t" + std::to_string(i), 1_GiB, limits)) << i;
  }
  EXPECT_FALSE(uploads.reserve("t10", 1_GiB, limits));
  EXPECT_TRUE(uploads.reserve("t10", 64_MiB, limits)) << "that is reserved already";
  uploads.remove("long");
  EXPECT_TRUE(uploads.reserve("t10", 1_GiB, limits));
}

TEST(UnfinishedUploads, AClientHasAQuarterOfThem) {
  UnfinishedUploads uploads;
  for (int i = 0; i < 25; ++i) {
    EXPECT_TRUE(uploads.add("a" + std::to_string(i), claim("ada"), limits));
  }
  EXPECT_FALSE(uploads.add("a25", claim("ada"), limits));
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(uploads.add("b" + std::to_string(i), claim("bob", 1_GiB), limits));
  }
  EXPECT_FALSE(uploads.add("b4", claim("bob", 1), limits));
  EXPECT_TRUE(uploads.add("c0", claim("eve", 1_GiB), limits));
  EXPECT_TRUE(uploads.add("c1", claim("", 1_GiB), limits));
}

TEST(UnfinishedUploads, OneUploadOfAnyClientFits) {
  constexpr UploadOptions small{
      .max_bytes = 1_GiB, .max_unfinished = 2, .max_unfinished_bytes = 1_GiB};
  UnfinishedUploads uploads;
  EXPECT_TRUE(uploads.add("a", claim("ada", 1_GiB), small));
  EXPECT_FALSE(uploads.add("b", claim("bob", 1), small));
  uploads.remove("a");
  EXPECT_TRUE(uploads.add("b", claim("ada", 1), small));
  EXPECT_TRUE(uploads.add("c", claim("ada", 1), small));
  EXPECT_FALSE(uploads.add("d", claim("ada", 1), small));
}

TEST(UnfinishedUploads, AnEmptyPartExpiresInMinutes) {
  using std::chrono::minutes;
  const auto modified = [](minutes age) {
    const auto time = std::chrono::system_clock::now().time_since_epoch() - age;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  };
  const std::chrono::seconds day = std::chrono::hours(24);
  const FileStat fresh{.size_bytes = 0, .modified_ns = modified(minutes(5))};
  const FileStat empty{.size_bytes = 0, .modified_ns = modified(minutes(15))};
  const FileStat begun{.size_bytes = 1, .modified_ns = modified(minutes(15))};
  EXPECT_FALSE(is_expired(fresh, day));
  EXPECT_TRUE(is_expired(empty, day));
  EXPECT_FALSE(is_expired(begun, day));
  EXPECT_TRUE(is_expired(fresh, minutes(1)));
}

}  // namespace
}  // namespace skua::files
