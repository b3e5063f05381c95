// SPDX-License-Identifier: MIT
#include "skua/preconditions.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "skua/testing.hpp"

namespace skua {
namespace {

constexpr auto some_time = std::chrono::sys_seconds(std::chrono::seconds(1'000'000'000));

std::optional<Response> checked(std::string_view line, std::string_view name,
                                std::string_view value, std::optional<std::string_view> etag) {
  testing::FakeRequest fake(line);
  if (!name.empty()) fake.header(name, value);
  return check_preconditions(fake.request(), etag, some_time);
}

bool proceeds(std::string_view name, std::string_view value,
              std::optional<std::string_view> etag = "\"v7\"") {
  const auto refused = checked("PUT /note", name, value, etag);
  EXPECT_EQ(refused ? refused->status() : Status::PreconditionFailed, Status::PreconditionFailed);
  return !refused;
}

TEST(Preconditions, WithoutAnyARequestProceeds) {
  EXPECT_TRUE(proceeds("", ""));
  EXPECT_TRUE(proceeds("", "", std::nullopt));
  EXPECT_TRUE(proceeds("Accept", "*/*"));
}

TEST(Preconditions, AVersionIsNamedByItsTagOrAWeakFormOfIt) {
  EXPECT_TRUE(proceeds("If-Match", "\"v7\""));
  EXPECT_TRUE(proceeds("If-Match", "\"v6\", \"v7\""));
  EXPECT_TRUE(proceeds("If-Match", "W/\"v7\""));
  EXPECT_FALSE(proceeds("If-Match", "\"v6\""));
  EXPECT_FALSE(proceeds("If-Match", "W/\"v6\""));
  EXPECT_FALSE(proceeds("If-Match", "v7"));
}

TEST(Preconditions, AWeakTagOfTheProgramNamesNoVersion) {
  for (const std::string_view asked : {"\"v7\"", "W/\"v7\""}) {
    EXPECT_FALSE(proceeds("If-Match", asked, "W/\"v7\"")) << asked;
  }
  EXPECT_TRUE(proceeds("If-Match", "*", "W/\"v7\""));
}

TEST(Preconditions, WhatDoesNotExistCanOnlyBeMade) {
  EXPECT_TRUE(proceeds("If-None-Match", "*", std::nullopt));
  EXPECT_FALSE(proceeds("If-None-Match", "*"));
  EXPECT_FALSE(proceeds("If-None-Match", "*", ""));
  EXPECT_FALSE(proceeds("If-Match", "*", std::nullopt));
  EXPECT_TRUE(proceeds("If-Match", "*", ""));
  EXPECT_FALSE(proceeds("If-Match", "\"v7\"", ""));
}

TEST(Preconditions, ADateIsComparedIfThereIsNoTag) {
  EXPECT_TRUE(proceeds("If-Unmodified-Since", "Sun, 09 Sep 2001 01:46:40 GMT"));
  EXPECT_FALSE(proceeds("If-Unmodified-Since", "Sun, 09 Sep 2001 01:46:39 GMT"));
}

TEST(Preconditions, ARefusalHasTheValidators) {
  const auto refused = checked("PUT /note", "If-Match", "\"v6\"", "\"v7\"");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->header("ETag"), "\"v7\"");
  EXPECT_EQ(refused->header("Last-Modified"), "Sun, 09 Sep 2001 01:46:40 GMT");
  const auto unchanged = checked("GET /note", "If-None-Match", "W/\"v7\"", "\"v7\"");
  ASSERT_TRUE(unchanged);
  EXPECT_EQ(unchanged->status(), Status::NotModified);
  EXPECT_EQ(unchanged->header("ETag"), "\"v7\"");
}

TEST(Preconditions, ATagWithoutQuotesIsAMistake) {
  EXPECT_THROW(proceeds("If-Match", "\"v7\"", "v7"), std::invalid_argument);
}

}  // namespace
}  // namespace skua
