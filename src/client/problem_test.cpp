// SPDX-License-Identifier: MIT
#include "client/problem.hpp"

#include <cerrno>

#include <gtest/gtest.h>

namespace skua::client {
namespace {

TEST(Problem, SaysWhatCouldNotBeDoneAndWhy) {
  EXPECT_EQ(could_not("connect to a:1", Error::from_system(ECONNREFUSED, "connect")).text,
            "could not connect to a:1: the connection was refused");
  EXPECT_EQ(could_not("connect to a:1", Error::from_system(ENETUNREACH, "connect")).text,
            "could not connect to a:1: Network is unreachable");
  EXPECT_EQ(could_not("resolve a", {Errc::NameNotResolved, "nobody knows it"}).text,
            "could not resolve a: nobody knows it");
  EXPECT_EQ(could_not("resolve a", Errc::NameNotResolved).text,
            "could not resolve a: the name could not be resolved");
}

TEST(Problem, SaysHowLongWasWaited) {
  const Problem problem = timed_out("connect to a:1", 10s);
  EXPECT_EQ(problem.text, "could not connect to a:1: no answer within 10 s");
  EXPECT_EQ(problem.error.code(), Errc::TimedOut);
  EXPECT_EQ(timed_out("x", 1500ms).text, "could not x: no answer within 1500 ms");
}

}  // namespace
}  // namespace skua::client
