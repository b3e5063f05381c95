// SPDX-License-Identifier: MIT
#include "server/server_run.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace skua::server {
namespace {

std::size_t cap(std::size_t open_files, std::size_t taken = 3, unsigned threads = 2) {
  ServerOptions options;
  options.threads = threads;
  return connection_cap(options, open_files, taken);
}

TEST(ConnectionCap, IsWhatWasWantedWhereFilesAreMany) {
  EXPECT_EQ(cap(std::numeric_limits<std::size_t>::max()), 65'536U);
  EXPECT_EQ(cap(1'048'576), 65'536U);
}

TEST(ConnectionCap, KeepsAReserveForFiles) {
  EXPECT_GE(cap(256), 200U);
  EXPECT_LE(cap(256), 230U);
  EXPECT_GE(cap(1024), 900U);
  EXPECT_LE(cap(1024), 960U);
  EXPECT_EQ(cap(20'000), 20'000U - 13U - 1266U);
}

TEST(ConnectionCap, CountsWhatTheProgramHasOpen) { EXPECT_EQ(cap(1024, 503), cap(1024) - 500); }

TEST(ConnectionCap, IsNothingWhereTheServerCouldNotEvenListen) {
  EXPECT_EQ(cap(12), 0U);
  EXPECT_EQ(cap(13), 0U);
  EXPECT_EQ(cap(14), 1U);
}

}  // namespace
}  // namespace skua::server
