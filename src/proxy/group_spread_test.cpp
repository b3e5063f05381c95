// SPDX-License-Identifier: MIT
// Groups of many members, and how requests are compared between members.
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/group_fixture.hpp"

namespace skua::proxy {
namespace {

TEST_F(GroupTest, TheRequestsOfASessionStayTogether) {
  options_.balance.by = Balance::Hash;
  make(4);
  const std::size_t own = choose({}, 42).index;
  for (int i = 1; i < 32; ++i) EXPECT_EQ(choose({}, 42).index, own) << i;
  // Event streams and tunnels do not count, however many are open.
  for (int i = 0; i < 32; ++i) group_->note_response(member(own));
  for (int i = 0; i < 32; ++i) EXPECT_EQ(choose({}, 42).index, own) << i;
  EXPECT_NE(choose({}, 42).index, own);  // there are too many
  group_->release(member(own));
  EXPECT_EQ(choose({}, 42).index, own);
}

/// Groups of 10 and of 1,000 members.
class LargeGroups : public GroupTest, public ::testing::WithParamInterface<Balance> {};

// The members that are looked at are candidates; a choice by draws has none.
TEST_P(LargeGroups, AChoiceDoesNotLookAtAll) {
  options_.balance.by = GetParam();
  for (const std::size_t count : {10U, 1'000U}) {
    options_.targets.clear();
    for (std::size_t i = 0; i < count; ++i) {
      options_.targets.push_back(
          {.url = "http://10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1),
           .weight = i % 2 == 0 ? 1U : 3U});
    }
    group_ = std::make_unique<Group>(options_);
    const std::shared_ptr<const Members> members = group_->members();
    candidates_.clear();
    std::vector<int> requests(count);
    for (std::size_t i = 0; i < 20 * count; ++i) {
      const Group::Wish wish{.key = draw_.next(), .now = now_};
      const Group::Choice choice = group_->choose(*members, wish, draw_, candidates_);
      ASSERT_EQ(choice.refusal, Refusal::None);
      ++requests[choice.index];
      group_->release(*(*members)[choice.index]);
    }
    EXPECT_TRUE(candidates_.empty());
    int light = 0;
    for (std::size_t i = 0; i < count; i += 2) light += requests[i];
    // A quarter, or less where the less busy of two is chosen.
    EXPECT_GT(light, static_cast<int>(count) / 2);
    EXPECT_LT(light, static_cast<int>(count) * 8);
  }
}

TEST_P(LargeGroups, ThoseThatAreOutAreLeftOut) {
  options_.balance.by = GetParam();
  make(20);
  for (std::size_t i = 0; i < 20; i += 2) check(i, "no answer", 3);
  fail(1, 5);
  const std::vector<const Member*> tried = {&member(3)};
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const Group::Wish wish{.key = draw_.next(), .tried = tried, .now = now_};
    const Group::Choice choice = group_->choose(*group_->members(), wish, draw_, candidates_);
    ASSERT_EQ(choice.index % 2, 1U);
    ASSERT_GT(choice.index, 3U);
    group_->release(member(choice.index));
  }
}

TEST_P(LargeGroups, AreLimited) {
  options_.balance.by = GetParam();
  options_.limits.target_requests = 2;
  make(20);
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_EQ(choose({}, i).refusal, Refusal::None) << i;
  EXPECT_EQ(choose({}, 1).refusal, Refusal::Busy);
  group_->release(member(7));
  EXPECT_EQ(choose({}, 1).index, 7U);
}

INSTANTIATE_TEST_SUITE_P(EachWay, LargeGroups,
                         ::testing::Values(Balance::LeastOutstanding, Balance::RoundRobin,
                                           Balance::Hash));

TEST_F(GroupTest, AKeyHasItsMemberInALargeGroup) {
  options_.balance.by = Balance::Hash;
  make(20);
  std::map<std::uint64_t, std::size_t> owners;
  for (std::uint64_t key = 0; key < 500; ++key) {
    owners[key] = choose({}, key).index;
    group_->release(member(owners[key]));
  }
  check(7, "no answer", 3);
  for (const auto& [key, owner] : owners) {
    const std::size_t now = choose({}, key).index;
    group_->release(member(now));
    if (owner == 7) {
      EXPECT_NE(now, 7U);
    } else {
      EXPECT_EQ(now, owner) << key;
    }
  }
}

/// Requests of which some are answered with 503.
class GroupStatuses : public GroupTest {
 protected:
  // Each member gets this many requests in turn.
  void answer(int rounds, std::initializer_list<Outcome> outcomes) {
    for (int i = 0; i < rounds; ++i) {
      std::size_t index = 0;
      for (const Outcome outcome : outcomes) {
        ASSERT_EQ(choose(others_than(index)).index, index);
        group_->judge(member(index), outcome, now_);
        group_->release(member(index));
        ++index;
      }
    }
  }
  std::vector<const Member*> others_than(std::size_t index) {
    std::vector<const Member*> others;
    for (std::size_t i = 0; i < group_->members()->size(); ++i) {
      if (i != index) others.push_back(&member(i));
    }
    return others;
  }
};

TEST_F(GroupStatuses, EjectOneThatIsWorseThanTheOthers) {
  make(3);
  answer(29, {Outcome::Unavailable, Outcome::Answered, Outcome::Answered});
  EXPECT_EQ(state(0), State::Up);  // too few to tell
  answer(2, {Outcome::Unavailable, Outcome::Answered, Outcome::Answered});
  EXPECT_EQ(state(0), State::Ejected);
  EXPECT_EQ(state(1), State::Up);
  EXPECT_NE(log_.find("far more often than the others"), std::string::npos) << log_;
}

TEST_F(GroupStatuses, OfAllSpeakAgainstNone) {
  make(3);
  answer(500, {Outcome::Unavailable, Outcome::Unavailable, Outcome::Unavailable});
  EXPECT_EQ(log_, "");
  now_ += 20s;
  answer(500, {Outcome::Unavailable, Outcome::Answered, Outcome::Unavailable});
  EXPECT_EQ(log_, "");
}

TEST_F(GroupStatuses, MayNotCount) {
  options_.ejection.on_status = false;
  make(2);
  answer(500, {Outcome::Unavailable, Outcome::Answered});
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupStatuses, AreOverruledByChecks) {
  make(2);
  check(0, "");
  answer(500, {Outcome::Unavailable, Outcome::Answered});
  EXPECT_EQ(state(0), State::Up);
  check(0, "no answer");
  answer(100, {Outcome::Unavailable, Outcome::Answered});
  EXPECT_EQ(state(0), State::Ejected);
}

}  // namespace
}  // namespace skua::proxy
