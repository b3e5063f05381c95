// SPDX-License-Identifier: MIT
#include "net/stream_pump.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/fault_stream.hpp"
#include "support/memory_stream.hpp"

namespace skua::net {
namespace {

/// A user that records its calls; the test is its peer.
class StreamPumpTest : public ::testing::Test, public StreamPumpUser {
 protected:
  void SetUp() override { use(std::make_unique<MemoryStream>()); }
  void TearDown() override {
    if (!pump_) return;
    pump_->close();
    memory_->pump();
  }
  void use(std::unique_ptr<MemoryStream> stream) {
    memory_ = stream.get();
    pump_.emplace(*this, *loop_, blocks_);
    pump_->take(std::move(stream));
    pump_->set_receiving(true);
  }
  void turn() {
    if (pump_) memory_->pump();
    loop_->run_once(Duration(0));
  }
  /// Makes the user answer each piece with `count` bytes from now on.
  void answer_with(std::size_t count) {
    act_ = [this, count] {
      pump_->output().append(std::string(count, 'x'));
      pump_->settle_later();
    };
  }

  void on_receive(std::span<char> bytes) override {
    received_.append(bytes.data(), bytes.size());
    if (act_) act_();
  }
  void on_receive_end(Error error) override { receive_end_ = error.code(); }
  void on_send_failed(Error error) override { send_failure_ = error.code(); }
  void on_sent(std::uint64_t count) override { sent_ += count; }
  void on_time_out() override {
    ++time_outs_;
    if (pump_->is_sending()) pump_->close();
  }
  void settle() override {
    ++settled_;
    if (settle_) return settle_();
    pump_->flush();
    if (pump_->has_ended()) return pump_->linger(2s, order_);
    if (const auto left = pump_->left_to_send(5s)) pump_->start_timer(*left);
  }
  void on_out_of_memory() noexcept override {
    ++lacks_;
    pump_->close();
  }
  void on_closing() noexcept override { ++closing_; }
  void on_closed() override {
    ++closed_;
    pump_.reset();
  }

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ = *loop::Loop::create({.clock = &clock_});
  OutputQueue::Blocks blocks_{4};
  MemoryStream* memory_ = nullptr;
  std::optional<StreamPump> pump_{};
  std::function<void()> act_{};
  std::function<void()> settle_{};
  StreamPump::ShutdownOrder order_ = StreamPump::ShutdownOrder::OursFirst;
  std::string received_;
  std::optional<Errc> receive_end_{};
  std::optional<Errc> send_failure_{};
  std::uint64_t sent_ = 0;
  int settled_ = 0;
  int time_outs_ = 0;
  int lacks_ = 0;
  int closing_ = 0;
  int closed_ = 0;
};

constexpr std::size_t much = 16 * 1024;

TEST_F(StreamPumpTest, WhatATurnWritesLeavesInOneSend) {
  answer_with(much / 2 - 1);
  memory_->feed("ab", 1);
  memory_->pump();
  EXPECT_EQ(received_, "ab");
  EXPECT_EQ(memory_->send_count(), 0U);
  turn();
  EXPECT_EQ(memory_->send_count(), 1U);
  EXPECT_EQ(sent_, much - 2);
  EXPECT_EQ(settled_, 1);
}

TEST_F(StreamPumpTest, MuchThatWasWrittenLeavesAtOnce) {
  answer_with(much);
  memory_->feed("a");
  memory_->pump_once();
  EXPECT_EQ(memory_->output().size(), much);
  turn();
  EXPECT_EQ(settled_, 1) << "only once per turn";
}

TEST_F(StreamPumpTest, WhatIsSentNowTakesTheOutputAlong) {
  pump_->output().append("output,");
  const std::array<Slice, 2> slices{Slice{"at ", 3}, Slice{"once", 4}};
  EXPECT_EQ(pump_->send_now(slices), 7U);
  EXPECT_EQ(memory_->output(), "output,at once");
  EXPECT_EQ(memory_->send_count(), 1U);
  EXPECT_EQ(sent_, 7U) << "the output alone";
  EXPECT_TRUE(pump_->has_sent_all());
  turn();
  EXPECT_EQ(memory_->send_count(), 1U);
}

TEST_F(StreamPumpTest, TheOutputGoesFirstWhenLittleIsTaken) {
  pump_->output().append("output,");
  const Slice slice{"at once", 7};
  memory_->take_at_most(4);
  EXPECT_EQ(pump_->send_now({&slice, 1}), 0U);
  EXPECT_EQ(pump_->output().size_bytes(), 3U);
  EXPECT_EQ(pump_->send_now({&slice, 1}), 1U);
  EXPECT_TRUE(pump_->output().empty());
  EXPECT_EQ(memory_->output(), "output,a");
  EXPECT_EQ(sent_, 7U);
}

TEST_F(StreamPumpTest, NothingOvertakesAFileOrALongOutput) {
  const Slice slice{"at once", 7};
  pump_->output().append_body(Body(FileRange{nullptr, 7, 0, 300}));
  EXPECT_EQ(pump_->send_now({&slice, 1}), 0U);
  pump_->output().clear();
  pump_->output().append(std::string(20'000, 'x'));
  EXPECT_EQ(pump_->send_now({&slice, 1}), 0U);
  EXPECT_EQ(memory_->send_count(), 0U);
  pump_->output().clear();
}

TEST_F(StreamPumpTest, DoesNotEndWhileTheStreamHoldsWhatItTook) {
  memory_->hold_tries();
  const Slice slice{"held", 4};
  EXPECT_EQ(pump_->send_now({&slice, 1}), 4U);
  EXPECT_TRUE(pump_->is_sending());
  EXPECT_FALSE(pump_->has_sent_all());
  EXPECT_EQ(pump_->send_now({&slice, 1}), 0U);
  pump_->end();
  EXPECT_FALSE(pump_->has_ended());
  turn();
  EXPECT_EQ(pump_->state(), StreamPump::State::Lingering);
  EXPECT_TRUE(memory_->is_write_shut());
}

TEST_F(StreamPumpTest, APeerThatTakesWhatTheStreamHoldsHasItsTimeAnew) {
  memory_->hold_tries();
  const Slice slice{"held", 4};
  EXPECT_EQ(pump_->send_now({&slice, 1}), 4U);
  EXPECT_EQ(pump_->left_to_send(5s), 5s);
  turn();
  EXPECT_EQ(pump_->left_to_send(5s), std::nullopt);
  clock_.advance(6s);
  turn();
  EXPECT_EQ(pump_->send_now({&slice, 1}), 4U);
  EXPECT_EQ(pump_->left_to_send(5s), 5s);
  turn();
}

TEST_F(StreamPumpTest, ReceivingStartsAndStopsOnceAndNotAfterTheEnd) {
  EXPECT_FALSE(pump_->set_receiving(true));
  EXPECT_TRUE(pump_->set_receiving(false));
  EXPECT_FALSE(pump_->set_receiving(false));
  EXPECT_FALSE(memory_->is_receiving());
  EXPECT_TRUE(pump_->set_receiving(true));
  memory_->finish();
  turn();
  EXPECT_EQ(receive_end_, Errc::None);
  EXPECT_TRUE(pump_->has_input_ended());
  EXPECT_FALSE(pump_->set_receiving(true));
  EXPECT_FALSE(memory_->is_receiving());
  EXPECT_EQ(settled_, 1);
}

TEST_F(StreamPumpTest, LingersForThePeerToReadTheLastOfOurs) {
  pump_->output().append("goodbye");
  pump_->end();
  pump_->settle_later();
  memory_->feed("dropped");
  turn();
  EXPECT_EQ(memory_->output(), "goodbye");
  EXPECT_TRUE(memory_->is_write_shut());
  EXPECT_EQ(pump_->state(), StreamPump::State::Lingering);
  memory_->feed("dropped, too");
  turn();
  EXPECT_EQ(received_, "");
  EXPECT_EQ(closing_, 0);
  memory_->finish();
  turn();
  EXPECT_EQ(closed_, 1);
  EXPECT_FALSE(receive_end_.has_value());
}

TEST_F(StreamPumpTest, LingersForSoLongOnly) {
  pump_->end();
  pump_->settle_later();
  turn();
  clock_.advance(1999ms);
  turn();
  EXPECT_EQ(closing_, 0);
  clock_.advance(1ms);
  turn();
  turn();
  EXPECT_EQ(closed_, 1);
  EXPECT_EQ(time_outs_, 0);
}

TEST_F(StreamPumpTest, DoesNotLingerForAPeerThatHasEnded) {
  memory_->finish();
  turn();
  pump_->end();
  pump_->settle_later();
  turn();
  turn();
  EXPECT_EQ(closed_, 1);
}

TEST_F(StreamPumpTest, LeavesTheLastWordToThePeer) {
  order_ = StreamPump::ShutdownOrder::PeersFirst;
  pump_->end();
  pump_->settle_later();
  turn();
  EXPECT_EQ(pump_->state(), StreamPump::State::Lingering);
  EXPECT_FALSE(memory_->is_write_shut());
}

TEST_F(StreamPumpTest, AnErrorOfThePeersEndsTheEnding) {
  memory_->take_at_most(0);
  pump_->output().append("goodbye");
  pump_->end();
  pump_->settle_later();
  turn();
  memory_->finish(Errc::Reset);
  turn();
  turn();
  EXPECT_EQ(closed_, 1);
}

class Slowly : public StreamPumpTest,
               public ::testing::WithParamInterface<MemoryStream::SendStyle> {};

TEST_P(Slowly, APeerThatTakesSomethingHasItsTimeAnew) {
  memory_->take_at_most(0, GetParam());
  pump_->output().append(std::string(10, 'x'));
  pump_->settle_later();
  turn();
  EXPECT_TRUE(pump_->is_sending());
  clock_.advance(4s);
  loop_->run_once(Duration(0));  // reads the clock
  memory_->take_at_most(3, GetParam());
  memory_->pump_once();
  memory_->take_at_most(0, GetParam());
  turn();
  clock_.advance(4s);
  turn();
  EXPECT_EQ(closing_, 0);
  clock_.advance(1s);
  turn();
  EXPECT_EQ(time_outs_, 1);
  EXPECT_EQ(closing_, 1);
}

TEST_P(Slowly, AllArrivesInTheEnd) {
  memory_->take_at_most(7, GetParam());
  const std::string text(100, 'x');
  pump_->output().append(text);
  pump_->settle_later();
  turn();
  turn();
  EXPECT_EQ(memory_->output(), text);
  EXPECT_EQ(sent_, 100U);
  EXPECT_FALSE(pump_->is_sending());
}

INSTANTIATE_TEST_SUITE_P(Styles, Slowly,
                         ::testing::Values(MemoryStream::SendStyle::Readiness,
                                           MemoryStream::SendStyle::Completion));

// A send that takes nothing is not progress: the time runs on.
TEST_F(StreamPumpTest, APeerThatTakesNothingHasNoMoreTime) {
  memory_->take_at_most(0);
  pump_->output().append("text");
  pump_->settle_later();
  turn();
  clock_.advance(4s);
  pump_->settle_later();
  turn();
  clock_.advance(1s);
  turn();
  EXPECT_EQ(closing_, 1);
}

TEST_F(StreamPumpTest, AFailedSendIsToldAndTheLast) {
  memory_->fail_send(Errc::Reset);
  pump_->output().append("text");
  pump_->settle_later();
  turn();
  memory_->pump();
  EXPECT_EQ(send_failure_, Errc::Reset);
  EXPECT_FALSE(pump_->is_sending());
  pump_->settle_later();
  turn();
  EXPECT_EQ(memory_->send_count(), 1U);
}

TEST_F(StreamPumpTest, NothingGoesOrComesOnceItIsCutOff) {
  memory_->take_at_most(1, MemoryStream::SendStyle::Completion);
  pump_->output().append("text");
  pump_->flush();
  pump_->cut_off();
  memory_->feed("more");
  turn();
  EXPECT_EQ(received_, "");
  EXPECT_EQ(memory_->send_count(), 1U);
  EXPECT_TRUE(pump_->has_input_ended());
}

TEST_F(StreamPumpTest, AClosedOneSettlesNoMore) {
  pump_->output().append("text");
  pump_->settle_later();
  pump_->start_timer(1s);
  pump_->close();
  pump_->close();
  EXPECT_EQ(closing_, 1);
  pump_->settle_later();
  loop_->run_once(Duration(0));
  clock_.advance(2s);
  loop_->run_once(Duration(0));
  EXPECT_EQ(settled_, 0);
  EXPECT_EQ(time_outs_, 0);
  EXPECT_EQ(memory_->send_count(), 0U);
}

TEST_F(StreamPumpTest, GoesOnForSoManyRoundsATurn) {
  int rounds = 0;
  settle_ = [&] {
    pump_->flush_while([&] {
      if (rounds == 20) return false;
      ++rounds;
      pump_->output().append("x");
      return true;
    });
  };
  pump_->settle_later();
  turn();
  EXPECT_EQ(rounds, 16);
  EXPECT_EQ(memory_->output().size(), 16U);
  turn();
  EXPECT_EQ(rounds, 20);
  EXPECT_EQ(memory_->send_count(), 20U);
}

TEST_F(StreamPumpTest, TheLackOfMemoryEndsAtItsUser) {
  act_ = [] { throw std::bad_alloc(); };
  memory_->feed("a");
  turn();
  EXPECT_EQ(lacks_, 1);
  EXPECT_EQ(settled_, 0);
  EXPECT_EQ(closed_, 1);
}

TEST_F(StreamPumpTest, TheLackOfMemoryAtTheEndOfATurnDoes) {
  settle_ = [] { throw std::bad_alloc(); };
  pump_->settle_later();
  turn();
  EXPECT_EQ(lacks_, 1);
}

TEST_F(StreamPumpTest, AStreamThatIsGivenUpReceivesAndSendsNoMore) {
  const std::unique_ptr<Stream> stream = pump_->give_up();
  EXPECT_EQ(stream.get(), memory_);
  EXPECT_FALSE(memory_->is_receiving());
  EXPECT_TRUE(pump_->has_input_ended());
  EXPECT_FALSE(pump_->set_receiving(false));
  EXPECT_FALSE(pump_->set_receiving(true));
  pump_->output().append("text");
  pump_->flush();
  pump_->close();
  EXPECT_EQ(memory_->send_count(), 0U);
  EXPECT_EQ(closing_, 0);
  pump_.reset();
}

TEST_F(StreamPumpTest, AnEndThatWasHeardOfBeforeIsAnEnd) {
  pump_->end_input(Errc::None);
  EXPECT_EQ(receive_end_, Errc::None);
  EXPECT_EQ(settled_, 1);
}

// Whichever operation fails, the failure is reported, and the pump can be closed.
TEST(StreamPumpFaults, EachOperationMayFail) {
  struct Closer final : StreamPumpUser {
    void on_receive(std::span<char> bytes) override {
      pump->output().append({bytes.data(), bytes.size()});
      pump->settle_later();
    }
    void on_receive_end(Error) override { pump->end(); }
    void on_send_failed(Error) override { pump->close(); }
    void on_sent(std::uint64_t) override {}
    void settle() override {
      pump->flush();
      if (pump->has_ended()) pump->linger(1s);
    }
    void on_out_of_memory() noexcept override { pump->close(); }
    void on_closed() override { pump.reset(); }
    std::optional<StreamPump> pump{};
  };
  for (std::uint64_t failing = 1; failing <= 12; ++failing) {
    const auto loop = *loop::Loop::create();
    OutputQueue::Blocks blocks{4};
    Closer user;
    auto memory = std::make_unique<MemoryStream>();
    MemoryStream& peer = *memory;
    auto owned = std::make_unique<FaultStream>(std::move(memory), failing);
    FaultStream& stream = *owned;
    user.pump.emplace(user, *loop, blocks);
    user.pump->take(std::move(owned));
    user.pump->set_receiving(true);
    peer.feed("abc", 1);
    peer.take_at_most(1);
    peer.finish();
    for (int turns = 0; user.pump && turns < 20; ++turns) {
      do {
        peer.pump();
      } while (user.pump && stream.deliver());
      loop->run_once(Duration(0));
    }
    EXPECT_FALSE(user.pump.has_value()) << failing;
  }
}

}  // namespace
}  // namespace skua::net
