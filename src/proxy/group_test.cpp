// SPDX-License-Identifier: MIT
#include "proxy/group.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/group_fixture.hpp"

namespace skua::proxy {
namespace {

// Options ----------------------------------------------------------------------------------------

TEST_F(GroupTest, RefusesOptionsThatCannotBeMeant) {
  const auto refuses = [this](auto&& change) {
    UpstreamOptions options = options_;
    options.targets = {{.url = "http://a"}};
    change(options);
    EXPECT_THROW(Group{options}, std::invalid_argument);
  };
  EXPECT_THROW(Group{options_}, std::invalid_argument);
  refuses([](UpstreamOptions& o) { o.targets[0].url = "a"; });
  refuses([](UpstreamOptions& o) { o.targets[0].weight = 0; });
  refuses([](UpstreamOptions& o) { o.targets.push_back({.url = "http://a:80"}); });
  refuses([](UpstreamOptions& o) { o.targets.push_back({.url = "http://b/"}); });
  refuses([](UpstreamOptions& o) { o.balance.hash_load = 0.5; });
  refuses([](UpstreamOptions& o) { o.ejection.max_share = 1.5; });
  refuses([](UpstreamOptions& o) { o.mirror.share = -1; });
  refuses([](UpstreamOptions& o) { o.retries.attempts = 0; });
  refuses([](UpstreamOptions& o) { o.retries.budget = std::numeric_limits<double>::infinity(); });
  refuses([](UpstreamOptions& o) { o.retries.budget = std::nan(""); });
  refuses([](UpstreamOptions& o) { o.ejection.time = Duration::zero(); });
  refuses([](UpstreamOptions& o) { o.limits.queue_time = -1s; });
  refuses([](UpstreamOptions& o) { o.limits.retry_after = std::chrono::seconds(-1); });
  refuses([](UpstreamOptions& o) { o.balance.slow_start = -1s; });
  refuses([](UpstreamOptions& o) { o.health = {.path = "/livez", .timeout = Duration::zero()}; });
  refuses([](UpstreamOptions& o) { o.retries.budget = -1; });
  refuses([](UpstreamOptions& o) { o.health.path = "livez"; });
  refuses([](UpstreamOptions& o) { o.resolve_interval = 0s; });
  refuses([](UpstreamOptions& o) {
    o.health.path = "/livez";
    o.health.timeout = 6s;
  });
}

// Balancing --------------------------------------------------------------------------------------

TEST_F(GroupTest, TakesTurns) {
  options_.balance.by = Balance::RoundRobin;
  make(3);
  EXPECT_EQ(counts(30), (std::map<std::size_t, int>{{0, 10}, {1, 10}, {2, 10}}));
}

TEST_F(GroupTest, PrefersThoseThatHaveLessToDo) {
  make(2);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(choose().refusal, Refusal::None);
  EXPECT_EQ(member(0).outstanding.load(), 5U);
  EXPECT_EQ(member(1).outstanding.load(), 5U);
}

TEST_F(GroupTest, ThoseThatWereTriedAreLeftOut) {
  make(3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose({&member(0), &member(2)}).index, 1U);
  EXPECT_EQ(choose({&member(0), &member(1), &member(2)}).refusal, Refusal::NoTarget);
}

TEST_F(GroupTest, AKeyHasItsMember) {
  options_.balance.by = Balance::Hash;
  options_.balance.hash_load = 100;
  make(5);
  for (std::uint64_t key = 0; key < 50; ++key) {
    const std::size_t index = choose({}, key).index;
    group_->release(member(index));
    EXPECT_EQ(choose({}, key).index, index);
    group_->release(member(index));
  }
}

// Ejection ---------------------------------------------------------------------------------------

TEST_F(GroupTest, FailuresInARowEject) {
  make(2);
  fail(0, 4);
  EXPECT_EQ(state(0), State::Up);
  fail(0);
  EXPECT_EQ(state(0), State::Ejected);
  EXPECT_EQ(counts(20), (std::map<std::size_t, int>{{1, 20}}));
  EXPECT_EQ(log_,
            "upstream shop: 10.0.0.1:80 gets no requests for 10 s: too many failed in a row, the "
            "last with closed\n");
  EXPECT_EQ(member(0).ejections.load(), 1U);
}

TEST_F(GroupTest, ASuccessInBetweenStartsAnew) {
  make(2);
  for (int i = 0; i < 10; ++i) {
    fail(0, 4);
    group_->judge(member(0), Outcome::Answered, now_);
  }
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupTest, OnlyFailuresOfTheServerCount) {
  make(2);
  for (const Outcome outcome :
       {Outcome::ServerError, Outcome::Unavailable, Outcome::Local, Outcome::Cancelled}) {
    fail(0, 10, outcome);
    EXPECT_EQ(state(0), State::Up) << name(outcome);
  }
  // Neither do those say that it is well.
  fail(0, 4);
  fail(0, 1, Outcome::Cancelled);
  fail(0, 1);
  EXPECT_EQ(state(0), State::Ejected);
}

TEST_F(GroupTest, AShortageOfThisMachineIsNoFaultOfAServer) {
  make(2);
  EXPECT_TRUE(member(0).is_our_own(Errc::TooManyOpenFiles));
  EXPECT_TRUE(member(0).is_our_own(Errc::OutOfMemory));
  EXPECT_FALSE(member(0).is_our_own(Errc::Refused));
  EXPECT_FALSE(member(0).is_our_own(Errc::AddressUnavailable)) << "it may be the wrong one";
  group_->judge(member(0), Outcome::Answered, now_);
  EXPECT_TRUE(member(0).is_our_own(Errc::AddressUnavailable)) << "all ports are taken";
  group_->note_check(member(1), "", now_);
  EXPECT_TRUE(member(1).is_our_own(Errc::AddressUnavailable)) << "all ports are taken";
}

TEST_F(GroupTest, EachKindOfFailureCounts) {
  for (std::size_t i = 0; i < outcome_count; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    if (!is_failure(outcome) || outcome == Outcome::Unavailable) continue;
    options_.targets.clear();
    make(2);
    fail(0, 5, outcome);
    EXPECT_EQ(state(0), State::Ejected) << name(outcome);
  }
}

TEST_F(GroupTest, AfterAnEjectionOneRequestDecides) {
  make(2);
  fail(0, 5);
  now_ += 10s;
  EXPECT_EQ(state(0), State::Up);
  fail(0);
  EXPECT_EQ(state(0), State::Ejected);
  now_ += 19s;
  EXPECT_EQ(state(0), State::Ejected);  // for twice as long
  now_ += 1s;
  EXPECT_EQ(state(0), State::Up);
  group_->judge(member(0), Outcome::Answered, now_);
  fail(0, 4);
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupTest, EjectionsGrowUpToALimit) {
  options_.ejection.max_time = 1min;
  make(2);
  fail(0, 4);
  for (const Duration time : {10s, 20s, 40s, 60s, 60s}) {
    fail(0);
    now_ += time - 1s;
    EXPECT_EQ(state(0), State::Ejected) << time.count();
    now_ += 1s;
    EXPECT_EQ(state(0), State::Up) << time.count();
  }
}

TEST_F(GroupTest, AMemberThatWasWellForLongStartsAnew) {
  make(2);
  fail(0, 5);
  now_ += 10s;
  fail(0);
  now_ += 20s + 5min + 1s;
  fail(0);
  now_ += 10s;
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupTest, OnlyAShareIsEjected) {
  make(4);
  for (std::size_t i = 0; i < 4; ++i) fail(i, 5);
  EXPECT_EQ(state(0), State::Ejected);
  EXPECT_EQ(state(1), State::Ejected);
  EXPECT_EQ(state(2), State::Up);
  EXPECT_EQ(state(3), State::Up);
}

TEST_F(GroupTest, TheOnlyMemberIsNotEjected) {
  make(1);
  fail(0, 100);
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupTest, EjectionCanBeTurnedOff) {
  options_.ejection.failures = 0;
  make(2);
  fail(0, 100);
  EXPECT_EQ(state(0), State::Up);
}

// Checks -----------------------------------------------------------------------------------------

TEST_F(GroupTest, ChecksTakeAMemberOutAndBringItBack) {
  make(2);
  check(0, "no answer", 2);
  EXPECT_EQ(state(0), State::Up);
  check(0, "no answer");
  EXPECT_EQ(state(0), State::Down);
  EXPECT_EQ(counts(20), (std::map<std::size_t, int>{{1, 20}}));
  check(0, "");
  check(0, "no answer");
  check(0, "");
  EXPECT_EQ(state(0), State::Down);
  check(0, "");
  EXPECT_EQ(state(0), State::Up);
  EXPECT_EQ(log_,
            "upstream shop: 10.0.0.1:80 is down: no answer\n"
            "upstream shop: 10.0.0.1:80 is up: its checks passed\n");
  EXPECT_EQ(member(0).passed_checks.load(), 3U);
  EXPECT_EQ(member(0).failed_checks.load(), 4U);
}

TEST_F(GroupTest, IfAllAreOutAllAreTried) {
  make(2);
  for (std::size_t i = 0; i < 2; ++i) check(i, "no answer", 3);
  EXPECT_EQ(counts(100).size(), 2U);
}

TEST_F(GroupTest, IfAllAreOutRequestsMayBeRefused) {
  options_.panics = false;
  make(2);
  for (std::size_t i = 0; i < 2; ++i) check(i, "no answer", 3);
  EXPECT_EQ(choose().refusal, Refusal::NoTarget);
}

TEST_F(GroupTest, LastResortsHaveAnOrder) {
  make(3);
  fail(1, 5);
  check(2, "no answer", 3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose().index, 0U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose({&member(0)}).index, 1U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose({&member(0), &member(1)}).index, 2U);
  const std::vector<const Member*> tried = {&member(0)};
  const Group::Wish wish{.tried = tried, .now = now_, .only_usable = true};
  EXPECT_EQ(group_->choose(*group_->members(), wish, draw_, candidates_).refusal,
            Refusal::NoTarget);
  check(0, "no answer", 3);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(choose().index, 1U);
}

TEST_F(GroupTest, PassedChecksEndAnEjection) {
  make(2);
  check(0, "");
  fail(0, 5);
  check(0, "");
  EXPECT_EQ(state(0), State::Ejected);  // it may have begun before
  check(0, "");
  EXPECT_EQ(state(0), State::Up);
  EXPECT_EQ(member(0).failures.load(), 0U);
  // Also if it was down before.
  fail(0, 5);
  check(0, "no answer", 3);
  EXPECT_EQ(state(0), State::Down);
  check(0, "", 2);
  EXPECT_EQ(state(0), State::Up);
}

TEST_F(GroupTest, SomeFailuresAreNobodysFault) {
  make(2);
  for (int i = 0; i < 10; ++i) group_->judge(member(0), Outcome::Closed, now_, false);
  EXPECT_EQ(state(0), State::Up);
  EXPECT_EQ(member(0).failures.load(), 0U);
  EXPECT_EQ(member(0).outcomes[static_cast<std::size_t>(Outcome::Closed)].load(), 10U);
}

TEST_F(GroupTest, RecentFailuresAreLoad) {
  options_.ejection.failures = 0;
  make(2);
  fail(0, 20);
  EXPECT_EQ(counts(100), (std::map<std::size_t, int>{{1, 100}}));
  now_ += 10s;
  EXPECT_EQ(counts(100).size(), 2U);
  fail(0);
  EXPECT_EQ(counts(100).size(), 1U);
  group_->judge(member(0), Outcome::Answered, now_);
  EXPECT_EQ(counts(100).size(), 2U);
}

TEST_F(GroupTest, OneThatComesBackStartsSlowly) {
  options_.balance.slow_start = 100s;
  options_.balance.by = Balance::RoundRobin;
  make(2);
  check(0, "no answer", 3);
  check(0, "", 2);
  now_ += 50s;
  const std::map<std::size_t, int> half = counts(300);
  EXPECT_NEAR(half.at(0), 100, 2);
  now_ += 50s;
  EXPECT_NEAR(counts(300).at(0), 150, 2);
  fail(1, 5);
  now_ += 10s;
  EXPECT_NEAR(counts(110).at(1), 10, 2);  // a tenth at least
}

// Limits -----------------------------------------------------------------------------------------

TEST_F(GroupTest, TargetsAreLimited) {
  options_.limits.target_requests = 2;
  make(2);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(choose().refusal, Refusal::None);
  EXPECT_EQ(choose().refusal, Refusal::Busy);
  group_->release(member(1));
  EXPECT_EQ(choose().index, 1U);
}

TEST_F(GroupTest, TheGroupIsLimited) {
  options_.limits.group_requests = 3;
  make(2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(choose().refusal, Refusal::None);
  EXPECT_EQ(choose().refusal, Refusal::Busy);
  group_->release(member(member(0).outstanding.load() != 0 ? 0 : 1));
  EXPECT_EQ(choose().refusal, Refusal::None);
  EXPECT_EQ(choose().refusal, Refusal::Busy);
}

TEST_F(GroupTest, ARefusalDoesNotUseUpTheLimit) {
  options_.limits.group_requests = 1;
  options_.panics = false;
  make(1);
  check(0, "no answer", 3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(choose().refusal, Refusal::NoTarget);
  check(0, "", 2);
  EXPECT_EQ(choose().refusal, Refusal::None);
}

// Otherwise another request could find the group full while none is outstanding, and wait in vain.
TEST_F(GroupTest, ARequestThatHasTriedAllTakesNoPlace) {
  options_.limits.group_requests = 1;
  make(1);
  ASSERT_EQ(choose().refusal, Refusal::None);
  EXPECT_EQ(choose({&member(0)}).refusal, Refusal::NoTarget);
  group_->release(member(0));
  EXPECT_EQ(choose().refusal, Refusal::None);
}

TEST_F(GroupTest, TellsWhenTheNextEjectionEnds) {
  options_.ejection.failures = 1;
  make(4);
  EXPECT_EQ(group_->next_return(*group_->members(), now_), loop::Instant::max());
  fail(0);
  now_ += 3s;
  fail(1);
  EXPECT_EQ(group_->next_return(*group_->members(), now_), now_ + 7s);
  now_ += 7s;
  EXPECT_EQ(group_->next_return(*group_->members(), now_), now_ + 3s);
}

TEST_F(GroupTest, TheFirstInTheLineIsCalledWhenARequestEnds) {
  options_.limits.target_requests = 1;
  make(1);
  const auto loop = loop::Loop::create().value();
  ASSERT_EQ(choose().refusal, Refusal::None);
  const WaitingLine::Place place(group_->line(), *loop);
  ASSERT_EQ(choose().refusal, Refusal::Busy);
  group_->release(member(0));
  loop->run_once(Duration(0));
  EXPECT_TRUE(place.is_called());
}

// Members ----------------------------------------------------------------------------------------

TEST_F(GroupTest, AddressesBecomeMembers) {
  options_.targets = {{.url = "http://shop.test:81", .each_address = true}};
  make(1);
  const std::uint64_t before = group_->generation();
  const Address a = *Address::parse("10.1.0.1:81");
  const Address b = *Address::parse("10.1.0.2:81");
  group_->replace(0, {a, b}, now_);
  EXPECT_NE(group_->generation(), before);
  const std::shared_ptr<const Members> members = group_->members();
  ASSERT_EQ(members->size(), 3U);
  EXPECT_EQ((*members)[0]->name, "shop.test:81/10.1.0.1:81");
  EXPECT_EQ((*members)[1]->name, "shop.test:81/10.1.0.2:81");
  EXPECT_EQ((*members)[2]->name, "10.0.0.1:80");
}

TEST_F(GroupTest, TheSameAddressesChangeNothing) {
  options_.targets = {{.url = "http://shop.test", .each_address = true}};
  group_ = std::make_unique<Group>(options_);
  const Address a = *Address::parse("10.1.0.1:80");
  const Address b = *Address::parse("10.1.0.2:80");
  group_->replace(0, {a, b}, now_);
  const std::uint64_t before = group_->generation();
  group_->replace(0, {b, a}, now_);
  EXPECT_EQ(group_->generation(), before);
}

TEST_F(GroupTest, NewAddressesGetRequestsOnceTheyPassACheck) {
  options_.targets = {{.url = "http://shop.test", .each_address = true}};
  options_.health = {.path = "/livez"};
  group_ = std::make_unique<Group>(options_);
  const Address a = *Address::parse("10.1.0.1:80");
  const Address b = *Address::parse("10.1.0.2:80");
  group_->replace(0, {a}, now_);
  EXPECT_EQ(counts(10), (std::map<std::size_t, int>{{0, 10}}));  // there is no other
  check(0, "");
  group_->replace(0, {a, b}, now_);
  EXPECT_EQ(state(1), State::Down);
  EXPECT_EQ(counts(100).size(), 1U);
  check(1, "");
  EXPECT_EQ(state(1), State::Up);
  EXPECT_EQ(counts(100).size(), 2U);
  const Address c = *Address::parse("10.1.0.3:80");
  group_->replace(0, {a, b, c}, now_);
  check(2, "no answer");  // the first decides
  EXPECT_EQ(state(2), State::Down);
  EXPECT_EQ(counts(100).size(), 2U);
}

TEST_F(GroupTest, OldAddressesDrain) {
  options_.targets = {{.url = "http://shop.test", .each_address = true}};
  group_ = std::make_unique<Group>(options_);
  const Address a = *Address::parse("10.1.0.1:80");
  const Address b = *Address::parse("10.1.0.2:80");
  group_->replace(0, {a}, now_);
  const std::shared_ptr<Member> old = (*group_->members())[0];
  ASSERT_EQ(choose().refusal, Refusal::None);
  group_->replace(0, {b}, now_);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(choose().index, 0U);
  ASSERT_EQ(group_->look(now_).size(), 2U);
  EXPECT_EQ(state(0), State::Up);
  EXPECT_EQ(state(1), State::Draining);
  EXPECT_EQ(group_->look(now_)[1].member, old);
  group_->release(*old);
  EXPECT_EQ(group_->look(now_).size(), 1U);
}

TEST_F(GroupTest, AnAddressThatStaysKeepsWhatIsKnownOfIt) {
  options_.targets = {{.url = "http://shop.test", .each_address = true}};
  group_ = std::make_unique<Group>(options_);
  const Address a = *Address::parse("10.1.0.1:80");
  const Address b = *Address::parse("10.1.0.2:80");
  group_->replace(0, {a}, now_);
  check(0, "no answer", 3);
  group_->replace(0, {b, a}, now_);
  EXPECT_EQ(state(0), State::Up);
  EXPECT_EQ(state(1), State::Down);
}

TEST_F(GroupTest, UpkeepIsForOneAtATime) {
  make(1);
  EXPECT_FALSE(group_->take_over_upkeep());  // there is nothing to do
  options_.health.path = "/livez";
  group_ = std::make_unique<Group>(options_);
  EXPECT_TRUE(group_->take_over_upkeep());
  EXPECT_FALSE(group_->take_over_upkeep());
  group_->leave_upkeep();
  EXPECT_TRUE(group_->take_over_upkeep());
}

}  // namespace
}  // namespace skua::proxy
