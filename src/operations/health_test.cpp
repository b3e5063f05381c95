// SPDX-License-Identifier: MIT
#include "skua/health.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "skua/server.hpp"
#include "support/wait_until.hpp"

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

/// A check that ends when it is told to, though nobody may wait for it any more.
class Stalling {
 public:
  Stalling() = default;
  Stalling(const Stalling&) = delete;
  Stalling& operator=(const Stalling&) = delete;
  ~Stalling() {
    go();
    while (state_->running != 0) std::this_thread::yield();
  }

  [[nodiscard]] Health::Check check() const {
    return [state = state_]() -> Result<void, Problem> {
      ++state->begun;
      ++state->running;
      state->goes.wait(false);
      --state->running;
      return {};
    };
  }
  void go() const {
    state_->goes = true;
    state_->goes.notify_all();
  }
  [[nodiscard]] int begun() const { return state_->begun; }

 private:
  struct State {
    std::atomic<int> begun{0};
    std::atomic<int> running{0};
    std::atomic<bool> goes{false};
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();  // shared with the check
};

TEST(Health, DoesNotWaitForACheckThatStalls) {
  const Stalling stalling;
  Health health;
  health.check("stalls", stalling.check(), std::chrono::milliseconds(20));
  const auto pass = []() -> Result<void, Problem> { return {}; };
  health.check("good", pass, Duration::max());
  for (int i = 0; i < 3; ++i) {
    const auto all = health.run();
    EXPECT_EQ(all.at(0).problem, "no result within 20 ms");
    EXPECT_EQ(all.at(1).problem, "");
  }
  testing::wait_until([&] { return stalling.begun() == 1; });
  EXPECT_FALSE(health.run().at(0).problem.empty());
  EXPECT_EQ(stalling.begun(), 1) << "a check runs once at a time";
  stalling.go();
  testing::wait_until([&] { return health.run().at(0).problem.empty(); });
}

TEST(Health, RunsChecksAtTheSameTime) {
  std::barrier met(3);  // each waits for the others
  Health health;
  for (const char* const name : {"a", "b", "c"}) {
    health.check(
        name,
        [&met]() -> Result<void, Problem> {
          met.arrive_and_wait();
          return {};
        },
        Duration::max());
  }
  for (const Health::Outcome& one : health.run()) EXPECT_EQ(one.problem, "") << one.name;
}

TEST(Health, SharesARunAmongThoseWhoAsk) {
  const Stalling stalling;
  std::atomic<int> answers{0};
  {
    Health health;
    health.check("slow", stalling.check(), Duration::max());
    for (int i = 0; i < 100; ++i) {
      health.run([&answers](const std::vector<Health::Outcome>& all) {
        EXPECT_EQ(all.at(0).problem, "");
        ++answers;
      });
    }
    testing::wait_until([&] { return stalling.begun() == 1; });
    EXPECT_EQ(answers, 0);
    stalling.go();
    testing::wait_until([&] { return answers == 100; });
  }
  EXPECT_LE(stalling.begun(), 2) << "those who came after it was done share another";
}

TEST(Health, LeavesACheckBehindThatStalls) {
  const Stalling stalling;
  {
    Health health;
    health.check("stalls", stalling.check(), std::chrono::milliseconds(1));
    EXPECT_FALSE(health.run().at(0).problem.empty());
    testing::wait_until([&] { return stalling.begun() == 1; });
  }
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
