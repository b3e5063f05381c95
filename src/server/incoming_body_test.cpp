// SPDX-License-Identifier: MIT
#include "server/incoming_body.hpp"

#include <gtest/gtest.h>

#include <coroutine>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/message/field.hpp"

namespace skua::server {
namespace {

using namespace std::chrono_literals;

class IncomingBodyTest : public ::testing::Test, protected BodySender {
 protected:
  IncomingBodyTest() {
    options_.limits.body_bytes = 1000;
    options_.limits.stream_bytes = 8;
    options_.limits.body_bytes_per_second = 10;
    options_.timeouts.body = 30s;
    options_.timeouts.body_grace = 10s;
  }

  void body_wanted() override { ++wanted_; }
  void body_taken(std::size_t size_bytes) override { taken_ += size_bytes; }
  void inform(Status, const FieldLines&) override {}

  void expect(IncomingBody::Expected expected = {.max_bytes = 1000}) {
    body_.expect(*this, expected);
  }
  /// Passes content on as a protocol does.
  Errc arrive(std::string_view data) {
    const Errc error = body_.received(data.size());
    return error == Errc::None ? body_.append(data) : error;
  }
  std::optional<std::string> take() {
    const std::optional<Bytes> piece = body_.take();
    return piece ? std::optional(std::string(text(*piece))) : std::nullopt;
  }
  void pass(Duration time) {
    clock_.advance(time);
    loop_->run_once(Duration(0));
  }
  Duration time_left() { return body_.deadline() - loop_->now(); }

  loop::ManualClock clock_;
  std::unique_ptr<loop::Loop> loop_ = loop::Loop::create({.clock = &clock_}).value();
  ServerOptions options_;
  ContentBudget budget_{options_.limits};
  body::SpareTexts spares_;
  IncomingBody body_{options_, budget_, spares_, *loop_};
  http::Head trailers_;
  int wanted_ = 0;
  std::size_t taken_ = 0;
};

TEST_F(IncomingBodyTest, IsTakenPieceByPiece) {
  expect({.max_bytes = 1000, .length_bytes = 8});
  EXPECT_FALSE(body_.has_piece());
  EXPECT_EQ(arrive("ab"), Errc::None);
  EXPECT_EQ(arrive("cde"), Errc::None);
  EXPECT_EQ(body_.unread_bytes(), 5U);
  EXPECT_EQ(take(), "abcde");
  EXPECT_EQ(taken_, 5U);
  EXPECT_EQ(body_.left_bytes(), 3U);
  EXPECT_FALSE(body_.has_piece());
  EXPECT_EQ(arrive("fgh"), Errc::None);
  body_.end(trailers_);
  EXPECT_FALSE(body_.is_arriving());
  EXPECT_EQ(take(), "fgh");
  EXPECT_TRUE(body_.has_piece()) << "its end";
  EXPECT_EQ(take(), std::nullopt);
  EXPECT_EQ(&body_.trailers(), &trailers_);
}

/// Takes content at once, up to a size.
struct Taker final : detail::ContentTaker {
  Taken take(std::string_view piece) noexcept override {
    if (is_away) return Taken::Nothing;
    text.append(piece);
    return text.size() < 8 ? Taken::All : Taken::Last;
  }
  std::string text;
  bool is_away = false;
};

class PassedOnTest : public IncomingBodyTest {
 protected:
  PassedOnTest() {
    expect();
    body_.pass_to(taker_);
  }
  ~PassedOnTest() override { detail::WaiterList::exchange_ready(before_); }

  detail::WaiterList ready_;
  detail::WaiterList* const before_ = detail::WaiterList::exchange_ready(&ready_);
  const std::shared_ptr<Taker> taker_ = std::make_shared<Taker>();
  detail::Waiter waiter_;
};

TEST_F(PassedOnTest, ContentGoesToATakerWhileAReaderWaits) {
  EXPECT_EQ(arrive("ab"), Errc::None);
  EXPECT_EQ(take(), "ab") << "nobody has waited";
  body_.wait(waiter_, std::noop_coroutine());
  EXPECT_EQ(arrive("cd"), Errc::None);
  EXPECT_EQ(taker_->text, "cd");
  EXPECT_EQ(taken_, 4U);
  EXPECT_FALSE(body_.has_piece());
  EXPECT_EQ(arrive("efghij"), Errc::None);
  EXPECT_EQ(taker_->text, "cdefghij");
  EXPECT_EQ(taken_, 4U) << "the peer may send no more until there is room again";
  EXPECT_FALSE(body_.has_room());
  EXPECT_EQ(body_.unread_bytes(), 6U);
  ready_.resume_all();
  EXPECT_TRUE(body_.has_piece());
  EXPECT_EQ(take(), "");
  EXPECT_FALSE(body_.has_room());
  EXPECT_EQ(arrive("kl"), Errc::None) << "what was on its way";
  EXPECT_EQ(taker_->text, "cdefghij");
  EXPECT_EQ(take(), "kl");
  EXPECT_EQ(taken_, 12U);
  EXPECT_TRUE(body_.has_room());
  taker_->text.clear();
  taker_->is_away = true;
  body_.wait(waiter_, std::noop_coroutine());
  EXPECT_EQ(arrive("m"), Errc::None);
  EXPECT_EQ(taker_->text, "");
  EXPECT_EQ(take(), "m");
}

TEST_F(PassedOnTest, AFullTakerHasRoomOnceTheReaderWaitsAgain) {
  body_.wait(waiter_, std::noop_coroutine());
  EXPECT_EQ(arrive("abcdefgh"), Errc::None);
  ready_.resume_all();
  EXPECT_EQ(take(), "");
  EXPECT_EQ(taken_, 0U);
  body_.wait(waiter_, std::noop_coroutine());
  EXPECT_EQ(taken_, 8U);
  EXPECT_TRUE(body_.has_room());
  EXPECT_EQ(arrive("abcdefgh"), Errc::None);
  EXPECT_FALSE(body_.has_room());
  body_.drop();
  EXPECT_TRUE(body_.has_room()) << "for what nobody wants";
}

TEST_F(IncomingBodyTest, APeerThatWaitsInVainIsNotAsked) {
  expect({.max_bytes = 1000, .peer_waits = true});
  body_.decline();
  EXPECT_FALSE(body_.take_continue());
  EXPECT_TRUE(body_.owes_continue());
  body_.clear();
  expect({.max_bytes = 1000, .peer_waits = true});
  EXPECT_TRUE(body_.take_continue());
}

TEST_F(IncomingBodyTest, AReaderMayAllowPausesAndAnyRate) {
  expect();
  body_.allow_pauses(60s);
  EXPECT_EQ(time_left(), 60s);
  pass(59s);
  EXPECT_EQ(arrive("a"), Errc::None) << "slower than the limit of the server";
  EXPECT_EQ(time_left(), 60s);
  body_.clear();
  expect();
  EXPECT_EQ(time_left(), 30s);
}

TEST_F(IncomingBodyTest, TheLimitsOfARouteHoldInPausesToo) {
  const RequestLimits limits{.body_bytes_per_second = 10, .body_timeout = 5s};
  expect({.max_bytes = 1000, .limits = &limits});
  body_.allow_pauses(60s);
  EXPECT_EQ(time_left(), 5s);
  pass(59s);
  EXPECT_EQ(arrive("a"), Errc::TooSlow);
}

TEST_F(IncomingBodyTest, HasRoomForSoMuchThatNobodyHasRead) {
  expect();
  EXPECT_TRUE(body_.has_room());
  EXPECT_EQ(arrive("1234567"), Errc::None);
  EXPECT_TRUE(body_.has_room());
  EXPECT_EQ(arrive("8"), Errc::None);
  EXPECT_FALSE(body_.has_room());
  take();
  EXPECT_TRUE(body_.has_room());
}

TEST_F(IncomingBodyTest, HasRoomForSomethingWhateverTheLimit) {
  options_.limits.stream_bytes = 0;
  expect();
  EXPECT_TRUE(body_.has_room());
}

TEST_F(IncomingBodyTest, IsNoLongerThanWasSaid) {
  expect({.max_bytes = 4});
  EXPECT_EQ(arrive("1234"), Errc::None);
  EXPECT_EQ(arrive("5"), Errc::BodyTooLong);
}

TEST_F(IncomingBodyTest, LoadedIsKeptWithinTheBudget) {
  const std::string much(800, 'x');
  ContentBudget small{[] {
    Limits limits;
    limits.body_bytes = limits.server_body_bytes = 500;
    return limits;
  }()};
  IncomingBody body(options_, small, spares_, *loop_);
  body.expect(*this, {.max_bytes = 100'000});
  body.load();
  EXPECT_EQ(body.append(much), Errc::None);
  EXPECT_EQ(body.loaded(), much);
  EXPECT_EQ(taken_, 800U);
  EXPECT_EQ(body.kept_bytes(), 800U);
  EXPECT_EQ(small.kept_bytes(), 800U);
  EXPECT_EQ(body.append(much), Errc::Overloaded);
  EXPECT_EQ(body.loaded(), much);
  body.drop_loaded();
  EXPECT_EQ(small.kept_bytes(), 0U);
}

TEST_F(IncomingBodyTest, WhatItsReaderKeepsIsGivenBackWithTheRequest) {
  expect();
  EXPECT_TRUE(body_.keep(700));
  EXPECT_EQ(body_.kept_bytes(), 700U);
  EXPECT_EQ(budget_.kept_bytes(), 700U);
  body_.release();
  EXPECT_EQ(budget_.kept_bytes(), 0U);
  EXPECT_TRUE(body_.keep(3));
  body_.clear();
  EXPECT_EQ(budget_.kept_bytes(), 0U);
}

TEST_F(IncomingBodyTest, DroppedHasAlwaysRoom) {
  expect();
  EXPECT_EQ(arrive("12345678"), Errc::None);
  body_.drop();
  EXPECT_TRUE(body_.has_room());
  EXPECT_EQ(arrive("12345678"), Errc::None);
  EXPECT_EQ(body_.unread_bytes(), 0U);
  body_.clear();
  expect();
  EXPECT_EQ(arrive("1"), Errc::None);
  EXPECT_EQ(take(), "1") << "by the next request";
}

TEST_F(IncomingBodyTest, EachPieceHasItsTime) {
  EXPECT_EQ(body_.deadline(), loop::Instant::max());
  expect();
  EXPECT_EQ(time_left(), 30s);
  pass(9s);
  EXPECT_EQ(time_left(), 21s);
  EXPECT_EQ(arrive("1"), Errc::None);
  EXPECT_EQ(time_left(), 30s);
  body_.end(trailers_);
  EXPECT_EQ(body_.deadline(), loop::Instant::max());
}

TEST_F(IncomingBodyTest, IsNotSlowerThanTheFloor) {
  expect();
  EXPECT_EQ(arrive(std::string(100, 'x')), Errc::None);
  pass(9s);
  EXPECT_EQ(arrive(""), Errc::None);
  pass(1s);
  EXPECT_EQ(arrive(""), Errc::None) << "100 bytes in 10 seconds";
  pass(1s);
  EXPECT_EQ(arrive("123456789"), Errc::TooSlow) << "109 in 11";
}

TEST_F(IncomingBodyTest, TimeForWhichItIsHeldBackDoesNotCount) {
  expect();
  pass(5s);
  body_.hold_back(true);
  EXPECT_EQ(body_.deadline(), loop::Instant::max());
  pass(1h);
  EXPECT_EQ(arrive("1"), Errc::None) << "it was on its way";
  body_.hold_back(false);
  EXPECT_EQ(time_left(), 30s);
  pass(4s);
  EXPECT_EQ(arrive("1"), Errc::None);
  pass(1s);
  EXPECT_EQ(arrive("1"), Errc::TooSlow);
}

TEST_F(IncomingBodyTest, TimeForWhichThePeerWaitsForContinueDoesNotCount) {
  expect({.max_bytes = 1000, .peer_waits = true});
  EXPECT_TRUE(body_.owes_continue());
  pass(1h);
  EXPECT_EQ(body_.deadline(), loop::Instant::max());
  EXPECT_TRUE(body_.take_continue());
  EXPECT_FALSE(body_.take_continue());
  EXPECT_EQ(time_left(), 30s);
  EXPECT_EQ(arrive("1"), Errc::None);
}

TEST_F(IncomingBodyTest, APeerThatDoesNotWaitForContinueIsNotToldIt) {
  expect({.max_bytes = 1000, .peer_waits = true});
  EXPECT_EQ(arrive("1"), Errc::None);
  EXPECT_FALSE(body_.take_continue());
  EXPECT_EQ(wanted_, 0);
}

}  // namespace
}  // namespace skua::server
