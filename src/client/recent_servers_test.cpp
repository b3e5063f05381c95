// SPDX-License-Identifier: MIT
#include "client/recent_servers.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua::client {
namespace {

using std::chrono::seconds;

TEST(RecentServers, AreRememberedForAMinute) {
  RecentServers servers;
  const loop::Instant begin{};
  EXPECT_FALSE(servers.contains("a", begin));
  servers.insert("a", begin);
  servers.insert("b", begin + seconds(59));
  EXPECT_TRUE(servers.contains("a", begin + seconds(59)));
  EXPECT_FALSE(servers.contains("a", begin + seconds(60)));
  EXPECT_TRUE(servers.contains("b", begin + seconds(60)));
}

TEST(RecentServers, AnotherRefusalBeginsAnotherMinute) {
  RecentServers servers;
  const loop::Instant begin{};
  servers.insert("a", begin);
  servers.insert("a", begin + seconds(30));
  EXPECT_TRUE(servers.contains("a", begin + seconds(89)));
}

TEST(RecentServers, AreForgottenBeyondAThousand) {
  RecentServers servers;
  const loop::Instant begin{};
  for (int i = 0; i < 1000; ++i) servers.insert(std::to_string(i), begin);
  EXPECT_TRUE(servers.contains("0", begin));
  servers.insert("last", begin);
  EXPECT_FALSE(servers.contains("0", begin));
  EXPECT_TRUE(servers.contains("last", begin));
}

}  // namespace
}  // namespace skua::client
