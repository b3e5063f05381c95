// SPDX-License-Identifier: MIT
#include "sockets/race.hpp"

#include <deque>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "net/close_detached.hpp"
#include "support/memory_stream.hpp"

namespace skua::sockets {
namespace {

Address address(std::string_view host) { return *Address::parse(host, 80); }

/// A race whose attempts end as the test says.
class RaceTest : public testing::Test {
 protected:
  struct Opened {
    std::string host;
    net::MemoryStream* stream = nullptr;
    net::StreamSink* sink = nullptr;
    bool is_destroyed = false;
  };
  using Run = Task<Result<net::HeldStream>>;

  ~RaceTest() override {
    task.reset();
    race.reset();
    if (winner) net::close_detached(std::move(winner));
    let_close();
    for (const Opened& one : opened) EXPECT_TRUE(one.is_destroyed) << one.host;
  }

  void make(const std::vector<std::string>& hosts) {
    std::vector<Address> addresses;
    for (const std::string& host : hosts) addresses.push_back(address(host));
    race.emplace(*loop, open, std::move(addresses));
  }
  void start(Duration limit = 10s) {
    task.emplace(race->run(limit));
    loop->post([this] { task->start(nullptr, nullptr); });
    settle();
  }
  void settle() {
    for (int i = 0; i < 4; ++i) loop->run_once(Duration(0));
    if (!task || !task->is_done() || is_taken) return;
    is_taken = true;
    auto result = task->result();
    if (result) {
      winner = *std::move(result);
    } else {
      failure = result.error().code();
    }
  }
  void advance(Duration by) {
    clock.advance(by);
    settle();
  }
  void tell(std::size_t attempt, Errc error) {
    opened.at(attempt).sink->on_connect(error);
    settle();
  }
  /// Finishes closing the streams that were told to close.
  void let_close() {
    for (Opened& one : opened) {
      if (!one.is_destroyed && one.stream->is_closed()) one.stream->pump();
    }
  }
  [[nodiscard]] bool is_closed(std::size_t attempt) const {
    return opened.at(attempt).is_destroyed || opened.at(attempt).stream->is_closed();
  }
  [[nodiscard]] std::string hosts() const {
    std::string out;
    for (const Opened& one : opened) out += (out.empty() ? "" : " ") + one.host;
    return out;
  }

  loop::ManualClock clock;
  std::unique_ptr<loop::Loop> loop = loop::Loop::create({.clock = &clock}).value();
  std::deque<Opened> opened;
  std::size_t failing_opens = 0;  ///< how many of the next attempts cannot even begin
  OpenStream open = [this](loop::Loop&, const Address& to,
                           net::StreamSink& sink) -> Result<std::unique_ptr<net::Stream>> {
    if (failing_opens != 0) {
      --failing_opens;
      return Error(Errc::TooManyOpenFiles, "socket");
    }
    auto stream = std::make_unique<net::MemoryStream>();
    char text[64];
    Opened& one = opened.emplace_back();
    one.host = to.format_host(text);
    one.stream = stream.get();
    one.sink = &sink;
    stream->listen(sink);
    stream->tell_destruction(one.is_destroyed);
    return std::unique_ptr<net::Stream>(std::move(stream));
  };
  std::unique_ptr<net::Stream> winner;
  std::optional<Errc> failure;
  bool is_taken = false;
  std::optional<Race> race;
  std::optional<Run> task;
};

TEST(TakeTurns, BeginsWithIpv6AndKeepsTheOrderOfEachFamily) {
  const auto turns = [](const std::vector<std::string>& hosts) {
    std::vector<Address> addresses;
    for (const std::string& host : hosts) addresses.push_back(address(host));
    std::string out;
    for (const Address& one : take_turns(addresses)) {
      char text[64];
      out.append(out.empty() ? "" : " ").append(one.format_host(text));
    }
    return out;
  };
  EXPECT_EQ(turns({"1.0.0.1", "1.0.0.2", "::1", "::2"}), "::1 1.0.0.1 ::2 1.0.0.2");
  EXPECT_EQ(turns({"::1", "::2", "::3", "1.0.0.1"}), "::1 1.0.0.1 ::2 ::3");
  EXPECT_EQ(turns({"1.0.0.1", "1.0.0.2", "1.0.0.3", "::1"}), "::1 1.0.0.1 1.0.0.2 1.0.0.3");
  EXPECT_EQ(turns({"1.0.0.1", "1.0.0.2"}), "1.0.0.1 1.0.0.2");
  EXPECT_EQ(turns({}), "");
}

TEST_F(RaceTest, EndsWithTheFirstAddressWhereThatAnswers) {
  make({"::1", "1.0.0.1"});
  start();
  EXPECT_EQ(hosts(), "::1");
  tell(0, Errc::None);
  EXPECT_EQ(winner.get(), opened[0].stream);
  EXPECT_EQ(opened.size(), 1U);
}

TEST_F(RaceTest, GivesEveryAttemptAHeadStart) {
  make({"::1", "1.0.0.1", "::2"});
  start();
  advance(240ms);
  EXPECT_EQ(hosts(), "::1");
  advance(20ms);
  EXPECT_EQ(hosts(), "::1 1.0.0.1");
  advance(260ms);
  EXPECT_EQ(hosts(), "::1 1.0.0.1 ::2");
  EXPECT_FALSE(is_closed(0));
  advance(1s);
  tell(0, Errc::None);
  EXPECT_EQ(winner.get(), opened[0].stream);
}

TEST_F(RaceTest, ASlowFirstAddressLosesAndIsClosed) {
  make({"::1", "1.0.0.1"});
  start();
  advance(260ms);
  tell(1, Errc::None);
  EXPECT_EQ(winner.get(), opened[1].stream);
  race.reset();
  EXPECT_TRUE(is_closed(0));
  EXPECT_FALSE(opened[0].is_destroyed);  // kept until it is closed
  EXPECT_FALSE(is_closed(1));
}

TEST_F(RaceTest, TriesTheNextAtOnceWhenOneFails) {
  make({"::1", "1.0.0.1", "::2"});
  start();
  tell(0, Errc::Refused);
  EXPECT_EQ(hosts(), "::1 1.0.0.1");
  EXPECT_TRUE(is_closed(0));
  advance(240ms);
  EXPECT_EQ(opened.size(), 2U);
  advance(20ms);
  EXPECT_EQ(opened.size(), 3U);
  tell(2, Errc::None);
  EXPECT_EQ(winner.get(), opened[2].stream);
}

TEST_F(RaceTest, GoesOnWhereAnAttemptCannotBegin) {
  failing_opens = 2;
  make({"::1", "1.0.0.1", "::2"});
  start();
  EXPECT_EQ(hosts(), "::2");
  tell(0, Errc::None);
  EXPECT_TRUE(winner);
}

TEST_F(RaceTest, EndsWithTheLastFailureWhereAllFail) {
  make({"::1", "1.0.0.1"});
  start();
  tell(0, Errc::Unsupported);
  EXPECT_FALSE(failure);
  tell(1, Errc::Refused);
  EXPECT_EQ(failure, Errc::Refused);
}

TEST_F(RaceTest, EndsWhereNoAttemptCanBegin) {
  failing_opens = 2;
  make({"::1", "1.0.0.1"});
  start();
  EXPECT_EQ(failure, Errc::TooManyOpenFiles);
}

TEST_F(RaceTest, WithoutAddressesThereIsNobody) {
  make({});
  start();
  EXPECT_EQ(failure, Errc::InvalidAddress);
}

TEST_F(RaceTest, GivesUpAtItsLimit) {
  make({"::1", "1.0.0.1"});
  start(1s);
  advance(900ms);
  EXPECT_FALSE(failure);
  advance(110ms);
  EXPECT_EQ(failure, Errc::TimedOut);
  race.reset();
  EXPECT_TRUE(is_closed(0));
  EXPECT_TRUE(is_closed(1));
}

TEST_F(RaceTest, ClosesAllWhenItIsDropped) {
  make({"::1", "1.0.0.1"});
  start();
  advance(260ms);
  task.reset();
  race.reset();
  EXPECT_TRUE(is_closed(0));
  EXPECT_TRUE(is_closed(1));
}

}  // namespace
}  // namespace skua::sockets
