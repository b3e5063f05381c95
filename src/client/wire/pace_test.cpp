// SPDX-License-Identifier: MIT
#include "client/wire/pace.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "body/outgoing_body.hpp"
#include "loop/clock.hpp"
#include "skua/body_writer.hpp"

namespace skua::client {
namespace {

TEST(Pace, IsUnlimitedByDefault) {
  for (Pace pace : {Pace(), Pace(0)}) {
    EXPECT_EQ(pace.piece_bytes(), std::numeric_limits<std::size_t>::max());
    pace.note(1'000'000'000, loop::Instant());
    EXPECT_EQ(pace.left(loop::Instant()), Duration(0));
  }
}

TEST(Pace, KeepsItsRate) {
  for (const std::uint64_t rate : {1ULL, 7ULL, 1000ULL, 1'000'000ULL, 10'000'000'000ULL}) {
    Pace pace(rate);
    loop::Instant now;
    std::uint64_t passed = 0;
    for (int i = 0; i < 200; ++i) {
      now += pace.left(now);
      const std::size_t piece = pace.piece_bytes();
      EXPECT_LE(piece, std::max<std::uint64_t>(rate / 20, 1));
      pace.note(piece, now);
      passed += piece;
    }
    now += pace.left(now);
    const double seconds = std::chrono::duration<double>(now.time_since_epoch()).count();
    EXPECT_NEAR(static_cast<double>(passed) / seconds / static_cast<double>(rate), 1, 0.001)
        << rate;
  }
}

TEST(Pace, MakesUpForAShortDelayOnly) {
  Pace pace(1000);
  loop::Instant now;
  pace.note(50, now);
  EXPECT_EQ(pace.left(now), 50ms);
  now += 80ms;  // 30 ms late
  EXPECT_EQ(pace.left(now), Duration(0));
  pace.note(50, now);
  EXPECT_EQ(pace.left(now), 20ms);
  now += 10s;
  pace.note(50, now);
  EXPECT_EQ(pace.left(now), 50ms);
}

TEST(Pace, AnyNumberIsARate) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Pace pace(most);
  EXPECT_GT(pace.piece_bytes(), 1U);
  pace.note(pace.piece_bytes(), loop::Instant());
  EXPECT_LE(pace.left(loop::Instant()), 60ms);
}

class PacedTest : public testing::Test, private body::Framer {
 protected:
  void start(Body content, std::uint64_t rate = 1000) {
    made_ = paced(std::move(content), rate, *loop_);
    loop_->post([this] { body_.start(*this, Body(made_), 1000); });
    turn();
  }
  void turn() {
    for (int i = 0; i < 6; ++i) loop_->run_once(Duration(0));
  }
  void advance(Duration by) {
    clock_.advance(by);
    turn();
  }
  std::string passed() const {
    std::string all;
    for (const Body& piece : pieces_) all += piece.text();
    return all;
  }

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ =
      *loop::Loop::create({.backend = BackendChoice::Poll, .clock = &clock_});
  Body made_;
  std::vector<Body> pieces_;
  std::uint64_t waiting_bytes_ = 0;
  body::OutgoingBody body_;

 private:
  void write_content(Body&& piece) override { pieces_.push_back(std::move(piece)); }
  std::uint64_t waiting_bytes() const noexcept override { return waiting_bytes_; }
  void content_ended() noexcept override {}
};

TEST_F(PacedTest, ATextIsSentInPieces) {
  const std::string text = std::string(50, 'a') + std::string(50, 'b') + "c";
  start(Body(text));
  EXPECT_EQ((*made_.stream())->length_bytes, 101U);
  EXPECT_EQ(passed(), text.substr(0, 50));
  advance(49ms);
  EXPECT_EQ(pieces_.size(), 1U);
  advance(1ms);
  EXPECT_EQ(passed(), text.substr(0, 100));
  EXPECT_FALSE(body_.is_made());
  advance(50ms);
  EXPECT_EQ(passed(), text);
  EXPECT_TRUE(body_.is_made());
  EXPECT_EQ(body_.end(), nullptr);
}

TEST_F(PacedTest, AFileIsSentInRanges) {
  const auto owner = std::make_shared<int>();
  start(Body(FileRange{.owner = owner, .file = 7, .offset = 1000, .size_bytes = 70}));
  advance(50ms);
  ASSERT_EQ(pieces_.size(), 2U);
  EXPECT_EQ(pieces_[0].file()->offset, 1000U);
  EXPECT_EQ(pieces_[0].file()->size_bytes, 50U);
  EXPECT_EQ(pieces_[1].file()->offset, 1050U);
  EXPECT_EQ(pieces_[1].file()->size_bytes, 20U);
  EXPECT_EQ(pieces_[1].file()->file, 7);
  EXPECT_TRUE(body_.is_made());
}

TEST_F(PacedTest, AProducerWaitsAndItsTrailersAreKept) {
  int written = 0;
  auto stream = std::make_shared<BodyStream>();
  stream->produce = [&written](BodyWriter& out) -> Task<> {
    co_await out.write(std::string(60, 'a'));
    ++written;
    co_await out.write(std::string(10, 'b'));
    ++written;
    out.trailer("X-End", "yes");
  };
  start(Body(std::shared_ptr<const BodyStream>(stream)));
  EXPECT_EQ(passed().size(), 50U);
  EXPECT_EQ(written, 0);
  advance(50ms);
  EXPECT_EQ(passed().size(), 60U);
  EXPECT_EQ(written, 1);
  advance(10ms);
  EXPECT_EQ(passed(), std::string(60, 'a') + std::string(10, 'b'));
  EXPECT_EQ(written, 2);
  ASSERT_TRUE(body_.is_made());
  EXPECT_EQ(body_.end(), nullptr);
  EXPECT_EQ(body_.trailers().find("X-End"), "yes");
}

TEST_F(PacedTest, ASlowPeerIsWaitedForToo) {
  waiting_bytes_ = 1000;
  start(Body(std::string(100, 'a')));
  EXPECT_EQ(pieces_.size(), 1U);  // a sink takes a piece even without room
  advance(10s);
  EXPECT_EQ(pieces_.size(), 1U);
  waiting_bytes_ = 0;
  body_.drained();
  turn();
  EXPECT_EQ(pieces_.size(), 2U);
}

TEST_F(PacedTest, TheFailureOfAProducerIsPassedOn) {
  auto stream = std::make_shared<BodyStream>();
  stream->produce = [](BodyWriter& out) -> Task<> {
    co_await out.write("begun");
    throw std::runtime_error("no more");
  };
  start(Body(std::shared_ptr<const BodyStream>(stream)));
  advance(1s);
  ASSERT_TRUE(body_.is_made());
  EXPECT_THROW(std::rethrow_exception(body_.end()), std::runtime_error);
  EXPECT_EQ(passed(), "begun");
}

TEST_F(PacedTest, DroppedAtAnyPointItEndsTheProducer) {
  const auto token = std::make_shared<int>();
  for (int turns = 0; turns < 5; ++turns) {
    {
      auto stream = std::make_shared<BodyStream>();
      stream->produce = [token](BodyWriter& out) -> Task<> {
        while (true) co_await out.write(std::string(60, 'a'));
      };
      start(Body(std::shared_ptr<const BodyStream>(stream)));
      for (int i = 0; i < turns; ++i) advance(40ms);
      body_.reset();
      made_ = Body();
      pieces_.clear();
    }
    turn();
    EXPECT_EQ(token.use_count(), 1) << turns;
  }
}

TEST_F(PacedTest, EmptyContentAndNoLimitChangeNothing) {
  EXPECT_EQ(paced(Body(), 10, *loop_).kind(), Body::Kind::None);
  EXPECT_EQ(paced(Body(""), 10, *loop_).kind(), Body("").kind());
  EXPECT_EQ(paced(Body("text"), 0, *loop_).text(), "text");
}

}  // namespace
}  // namespace skua::client
