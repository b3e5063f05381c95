// SPDX-License-Identifier: MIT
#include "skua/health.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "skua/server.hpp"

namespace skua {
namespace {

TEST(Health, TellsTheProblemOfEachCheck) {
  Health health;
  health.check("good", []() -> Result<void, Problem> { return {}; });
  health.check("bad", []() -> Result<void, Problem> {
    return Problem{Error(Errc::TimedOut, "database"), "no answer"};
  });
  health.check("throws", []() -> Result<void, Problem> { throw std::runtime_error("lost"); });
  health.check("mute", []() -> Result<void, Problem> { throw std::runtime_error(""); });
  health.check("odd", []() -> Result<void, Problem> { throw 7; });
  const std::vector<Health::Outcome> all = health.run();
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].name, "good");
  EXPECT_EQ(all[0].problem, "");
  EXPECT_EQ(all[1].problem, "no answer");
  EXPECT_EQ(all[2].problem, "lost");
  EXPECT_EQ(all[3].problem, "failed");
  EXPECT_EQ(all[4].problem, "failed");
}

TEST(Health, FollowsAServer) {
  const Router router;
  Server server(router, {.host = "127.0.0.1", .port = 0, .threads = 1});
  Health health;
  health.watch(server);
  const auto problem = [&health] { return health.run().at(0).problem; };
  EXPECT_EQ(problem(), "not started");
  ASSERT_TRUE(server.start());
  EXPECT_EQ(problem(), "");
  server.shutdown(Duration(0));
  EXPECT_EQ(problem(), "ended");
}

}  // namespace
}  // namespace skua
