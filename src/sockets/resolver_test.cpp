// SPDX-License-Identifier: MIT
#include "sockets/resolver.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>

#include <gtest/gtest.h>

namespace skua::sockets {
namespace {

Address address(std::string_view host, std::uint16_t port = 0) {
  return *Address::parse(host, port);
}

/// A test's name server, which can be held back. Shared with lookups, as they may outlive the test.
class FakeNames {
 public:
  /// Must be called before the name is looked up.
  void add(const std::string& name, Addresses addresses) {
    const std::lock_guard lock(mutex_);
    answers_.emplace(name, std::move(addresses));
  }
  Result<Addresses> look_up(const std::string& name) {
    std::unique_lock lock(mutex_);
    ++calls_;
    ++running_;
    changed_.notify_all();
    changed_.wait(lock,
                  [&] { return !is_held_ && (!name.starts_with("dead") || are_dead_released_); });
    --running_;
    changed_.notify_all();
    const auto found = answers_.find(name);
    if (found == answers_.end()) return Error(Errc::NameNotResolved, "nobody knows it");
    return found->second;
  }
  void hold() { set_held(true); }
  void let_go() { set_held(false); }
  /// Names that begin with `dead` are answered only after this.
  void release_dead() {
    const std::lock_guard lock(mutex_);
    are_dead_released_ = true;
    changed_.notify_all();
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 20s, [&] { return running_ == 0; }));
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  void wait_for_calls(int count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 20s, [&] { return calls_ >= count; }));
  }

 private:
  void set_held(bool is_held) {
    const std::lock_guard lock(mutex_);
    is_held_ = is_held;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, Addresses> answers_;
  int calls_ = 0;
  int running_ = 0;
  bool is_held_ = false;
  bool are_dead_released_ = false;
};

class ResolverTest : public testing::Test {
 protected:
  using Answer = Task<Result<Addresses, Problem>>;

  ResolverTest() {
    names.add("a.example", {address("10.0.0.1"), address("10.0.0.2")});
    names.add("b.example", {address("10.0.0.3")});
    options.lookups.look_up = [names = shared_](const std::string& name) {
      return names->look_up(name);
    };
    options.lookups.is_local = [](const std::string& name) { return name.starts_with("local"); };
  }
  ~ResolverTest() override {
    names.let_go();
    names.release_dead();
  }

  void make() { resolver = std::make_unique<Resolver>(*loop, options); }
  void start(Answer& task) {
    loop->post([&task] { task.start(nullptr, nullptr); });
    loop->run_once(Duration(0));
  }
  Answer started(std::string host, std::uint16_t port = 80, Duration limit = 5s) {
    Answer task = resolver->resolve(std::move(host), port, {limit, "Limits::lookup"});
    start(task);
    return task;
  }
  void finish(Answer& task) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!task.is_done()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      loop->run_once(100ms);
    }
  }
  Result<Addresses, Problem> ask(std::string host, std::uint16_t port = 80) {
    Answer task = started(std::move(host), port);
    finish(task);
    return task.result();
  }
  /// Returns the addresses, or the text of the problem.
  std::string text(const Result<Addresses, Problem>& outcome) {
    if (!outcome) return outcome.error().text;
    std::string out;
    for (const Address& one : *outcome) out += (out.empty() ? "" : " ") + one.to_string();
    return out;
  }
  void advance(Duration by) {
    clock.advance(by);
    for (int i = 0; i < 4; ++i) loop->run_once(Duration(0));
  }

  const std::shared_ptr<FakeNames> shared_ = std::make_shared<FakeNames>();
  FakeNames& names = *shared_;
  ResolverOptions options;
  loop::ManualClock clock;
  std::unique_ptr<loop::Loop> loop = loop::Loop::create({.clock = &clock}).value();
  std::unique_ptr<Resolver> resolver;
};

TEST_F(ResolverTest, AsksAThreadAndPutsThePortIn) {
  make();
  EXPECT_EQ(text(ask("a.example", 8080)), "10.0.0.1:8080 10.0.0.2:8080");
  EXPECT_EQ(names.calls(), 1);
}

TEST_F(ResolverTest, AnswersNumbersAndLocalhostAtOnce) {
  make();
  for (const auto& [host, wanted] :
       std::map<std::string, std::string>{{"127.0.0.1", "127.0.0.1:80"},
                                          {"::1", "[::1]:80"},
                                          {"[::1]", "[::1]:80"},
                                          {"localhost", "[::1]:80 127.0.0.1:80"},
                                          {"LocalHost.", "[::1]:80 127.0.0.1:80"},
                                          {"app.localhost", "[::1]:80 127.0.0.1:80"}}) {
    Answer task = started(host);
    ASSERT_TRUE(task.is_done()) << host;
    EXPECT_EQ(text(task.result()), wanted);
  }
  EXPECT_EQ(names.calls(), 0);
}

TEST_F(ResolverTest, TakesTheFirstOverrideThatFits) {
  options.overrides = {{"A.example", 443, address("192.0.2.1", 8443)},
                       {"a.example", 0, address("192.0.2.2")},
                       {"127.0.0.1", 0, *Address::unix_path("/run/x")}};
  make();
  EXPECT_EQ(text(ask("a.example", 443)), "192.0.2.1:8443");
  EXPECT_EQ(text(ask("A.EXAMPLE", 80)), "192.0.2.2:80");
  EXPECT_EQ(text(ask("127.0.0.1", 80)), "unix:/run/x");
  EXPECT_EQ(names.calls(), 0);
}

TEST_F(ResolverTest, ReturnsAddressesOfOneFamily) {
  names.add("both.example", {address("2001:db8::1"), address("10.0.0.4")});
  options.overrides = {{"fixed.example", 0, address("192.0.2.1")},
                       {"unix.example", 0, *Address::unix_path("/run/x")}};
  options.family = Address::Family::Ipv6;
  make();
  EXPECT_EQ(text(ask("both.example")), "[2001:db8::1]:80");
  EXPECT_EQ(text(ask("localhost")), "[::1]:80");
  EXPECT_EQ(text(ask("unix.example")), "unix:/run/x");
  for (const char* const host : {"a.example", "127.0.0.1", "fixed.example"}) {
    const auto outcome = ask(host);
    ASSERT_FALSE(outcome) << host;
    EXPECT_EQ(outcome.error().code(), Errc::NameNotResolved);
    EXPECT_EQ(outcome.error().text,
              "could not resolve " + std::string(host) + ": it has no IPv6 address");
  }
  options.family = Address::Family::Ipv4;
  make();
  EXPECT_EQ(text(ask("both.example")), "10.0.0.4:80");
  EXPECT_EQ(text(ask("::1")), "could not resolve ::1: it has no IPv4 address");
}

TEST_F(ResolverTest, OneLookupServesAllWhoAskMeanwhile) {
  make();
  names.hold();
  Answer first = started("a.example", 1);
  Answer second = started("A.example", 2);
  names.wait_for_calls(1);
  names.let_go();
  finish(first);
  finish(second);
  EXPECT_EQ(text(first.result()), "10.0.0.1:1 10.0.0.2:1");
  EXPECT_EQ(text(second.result()), "10.0.0.1:2 10.0.0.2:2");
  EXPECT_EQ(names.calls(), 1);
}

TEST_F(ResolverTest, GoesOnAfterItsDeadlineAndTheLateAnswerIsKept) {
  make();
  names.hold();
  Answer task = started("a.example", 80, 5s);
  names.wait_for_calls(1);
  advance(4900ms);
  EXPECT_FALSE(task.is_done());
  advance(200ms);
  ASSERT_TRUE(task.is_done());
  const Result<Addresses, Problem> outcome = task.result();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code(), Errc::TimedOut);
  EXPECT_EQ(outcome.error().text,
            "could not resolve a.example: no answer within 5 s (Limits::lookup)");
  names.let_go();
  EXPECT_EQ(text(ask("a.example")), "10.0.0.1:80 10.0.0.2:80");
  EXPECT_EQ(names.calls(), 1);
}

TEST_F(ResolverTest, ADroppedWaiterHarmsNeitherTheOthersNorTheLookup) {
  make();
  names.hold();
  Answer other = started("a.example");
  {
    const Answer dropped = started("a.example");
    names.wait_for_calls(1);
  }
  names.let_go();
  finish(other);
  EXPECT_EQ(text(other.result()), "10.0.0.1:80 10.0.0.2:80");
}

TEST_F(ResolverTest, MayGoWhileAThreadIsAtWork) {
  make();
  names.hold();
  {
    const Answer dropped = started("a.example");
    names.wait_for_calls(1);
  }
  resolver.reset();
  names.let_go();
  names.wait_for_all();
  advance(1s);
}

TEST_F(ResolverTest, ALookupMayEndAfterTheLoop) {
  make();
  names.hold();
  {
    const Answer dropped = started("a.example");
    const Answer queued = started("b.example");
    names.wait_for_calls(2);
  }
  resolver.reset();
  loop.reset();
  names.let_go();
  names.wait_for_all();
}

TEST_F(ResolverTest, LookupsThatWereGivenUpDelayNoOtherNames) {
  options.lookups.threads = 2;
  make();
  Answer first = started("dead1.example", 80, 5s);
  Answer second = started("dead2.example", 80, 5s);
  names.wait_for_calls(2);
  Answer other = started("a.example", 80, 20s);
  advance(4900ms);
  EXPECT_FALSE(first.is_done() || other.is_done());
  advance(200ms);
  EXPECT_TRUE(first.is_done() && second.is_done());
  finish(other);
  EXPECT_EQ(text(other.result()), "10.0.0.1:80 10.0.0.2:80");
  EXPECT_EQ(text(ask("b.example")), "10.0.0.3:80");
}

TEST_F(ResolverTest, WhoAsksAgainForANameThatWasGivenUpSharesItsLookup) {
  options.lookups.threads = 1;
  make();
  {
    const Answer dropped = started("dead.example");
  }
  names.wait_for_calls(1);
  Answer again = started("dead.example");
  names.add("dead.example", {address("10.0.0.9")});
  names.release_dead();
  finish(again);
  EXPECT_EQ(text(again.result()), "10.0.0.9:80");
  EXPECT_EQ(names.calls(), 1);
}

TEST_F(ResolverTest, NamesOfTheHostsFileWaitForNoStuckLookup) {
  options.lookups.threads = 1;
  make();
  names.add("local.example", {address("10.0.0.7")});
  names.add("local2.example", {address("10.0.0.8")});
  const Answer stuck = started("dead.example");
  names.wait_for_calls(1);
  const Answer waits = started("a.example");
  EXPECT_EQ(text(ask("local.example")), "10.0.0.7:80");
  EXPECT_EQ(text(ask("local2.example")), "10.0.0.8:80");
  EXPECT_FALSE(waits.is_done());
}

TEST_F(ResolverTest, ANameThatNobodyWaitsForLeavesTheQueue) {
  options.lookups.threads = 1;
  make();
  names.hold();
  Answer running = started("a.example");
  names.wait_for_calls(1);
  {
    const Answer dropped = started("c.example");
  }
  EXPECT_EQ(resolver->size(), 1U);
  Answer queued = started("b.example");
  names.let_go();
  finish(running);
  finish(queued);
  EXPECT_EQ(text(queued.result()), "10.0.0.3:80");
  EXPECT_EQ(names.calls(), 2);
}

TEST_F(ResolverTest, RemembersForAWhile) {
  make();
  EXPECT_TRUE(ask("a.example"));
  advance(9s);
  EXPECT_TRUE(ask("a.example"));
  EXPECT_EQ(names.calls(), 1);
  advance(2s);
  EXPECT_TRUE(ask("a.example"));
  EXPECT_EQ(names.calls(), 2);
}

TEST_F(ResolverTest, RemembersAFailureForAMoment) {
  make();
  EXPECT_EQ(text(ask("c.example")), "could not resolve c.example: nobody knows it");
  EXPECT_EQ(text(ask("c.example")), "could not resolve c.example: nobody knows it");
  EXPECT_EQ(names.calls(), 1);
  advance(1100ms);
  names.add("c.example", {address("10.0.0.4")});
  EXPECT_EQ(text(ask("c.example")), "10.0.0.4:80");
}

TEST_F(ResolverTest, RemembersNothingWhereThatIsWanted) {
  options.cache_time = Duration(0);
  make();
  EXPECT_TRUE(ask("a.example"));
  EXPECT_TRUE(ask("a.example"));
  EXPECT_EQ(names.calls(), 2);
}

TEST_F(ResolverTest, ForgetsWhatIsOldestWhenItIsFull) {
  options.cache_entries = 2;
  make();
  EXPECT_TRUE(ask("a.example"));
  advance(1s);
  EXPECT_TRUE(ask("b.example"));
  EXPECT_FALSE(ask("c.example"));  // a failure expires first, but evicts a.example now
  EXPECT_EQ(resolver->size(), 2U);
  EXPECT_TRUE(ask("b.example"));
  EXPECT_EQ(names.calls(), 3);
  EXPECT_TRUE(ask("a.example"));
  EXPECT_EQ(names.calls(), 4);
  EXPECT_EQ(resolver->size(), 2U);
}

TEST_F(ResolverTest, SaysThatTooManyLookupsWait) {
  options.lookups.threads = 1;
  options.lookups.queued = 0;
  make();
  names.hold();
  Answer running = started("a.example");
  names.wait_for_calls(1);
  EXPECT_EQ(ask("b.example").error().code(), Errc::Overloaded);
  names.let_go();
  finish(running);
  // It was not cached as a failure of the name. The thread becomes free shortly after its answer.
  const auto end = std::chrono::steady_clock::now() + 20s;
  std::string again;
  while (again != "10.0.0.3:80") {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << again;
    again = text(ask("b.example"));
  }
}

TEST_F(ResolverTest, AnAnswerWithoutAddressesOrAnExceptionIsAFailure) {
  names.add("empty.example", {});
  make();
  EXPECT_EQ(text(ask("empty.example")), "could not resolve empty.example: it has no address");
  options.lookups.look_up = [](const std::string&) -> Result<Addresses> { throw std::bad_alloc(); };
  make();
  EXPECT_EQ(ask("a.example").error().code(), Errc::NameNotResolved);
}

}  // namespace
}  // namespace skua::sockets
