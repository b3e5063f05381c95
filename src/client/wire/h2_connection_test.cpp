// SPDX-License-Identifier: MIT
// H2Connection: concurrent exchanges, capacity, back-pressure and every kind of end.
#include "client/wire/h2_connection.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/h2_client_fixture.hpp"

namespace skua::client {
namespace {

TEST_F(H2ConnectionTest, SaysWhoItIsWithItsFirstRequest) {
  const H2Call call = get("/a?b=c");
  const std::string bytes = stream_->take_output();
  ASSERT_TRUE(bytes.starts_with(h2::client_preface));
  EXPECT_EQ(frames::describe(std::string_view(bytes).substr(h2::client_preface.size())),
            "SETTINGS WINDOW_UPDATE(0) HEADERS(1)!");
  EXPECT_TRUE(call->is_all_sent());
  EXPECT_FALSE(call->has_begun());
  EXPECT_EQ(told(call), "");
}

TEST_F(H2ConnectionTest, ExchangesGoOnSideBySide) {
  const H2Call first = greeted();
  const H2Call second = get("/2");
  const H2Call third = get("/3");
  EXPECT_EQ(said(), "HEADERS(3)! HEADERS(5)!");
  feed(head(5) + head(1, {}, frames::open, "103") + frames::data(5, "five"));
  feed(head(3, {}, frames::whole, "404") + head(1) + frames::data(1, "o"));
  EXPECT_EQ(told(third), "Head(200) [five] ");
  EXPECT_EQ(told(second), "Head(404) Complete");
  EXPECT_EQ(told(first), "Interim(103) Head(200) [o] ");
  feed(frames::data(1, "ne", frames::end) + frames::headers(5, frames::field("t", "u")));
  EXPECT_EQ(told(first), "[ne] Complete");
  EXPECT_EQ(told(third), "Complete");
  EXPECT_EQ(told(third), "Complete");
  ASSERT_EQ(third->trailers().fields.size(), 1U);
  EXPECT_EQ(third->trailers().value(third->trailers().fields[0]), "u");
  EXPECT_TRUE(second->trailers().fields.empty());
  EXPECT_EQ(third->head().version(), Version::Http2);
  EXPECT_EQ(pool_->size(), 1U);
}

TEST_F(H2ConnectionTest, WhoWaitsIsWoken) {
  const H2Call call = greeted();
  int woken = 0;
  const auto waiting = [](Exchange& exchange, int& count) -> Task<> {
    while (true) {
      co_await exchange.changed().wait();
      ++count;
    }
  };
  auto task = waiting(*call.exchange, woken);
  on_loop([&task] { task.start(nullptr, nullptr); });
  EXPECT_EQ(woken, 0);
  clock_.advance(1s);
  feed(head(1));
  EXPECT_EQ(woken, 1);
  EXPECT_EQ(call->progress(), loop_->now());
  feed(frames::data(1, "x"));
  EXPECT_EQ(woken, 2);
  feed(frames::ping());
  EXPECT_EQ(woken, 2);
}

TEST_F(H2ConnectionTest, AReaderThatPausesStopsItsStreamOnly) {
  const H2Call slow = greeted();
  const H2Call other = get();
  said();
  feed(head(1) + head(3));
  EXPECT_EQ(told(slow), "Head(200) ");
  const std::string piece(16 * 1024, 'x');
  for (int i = 0; i < 70; ++i) feed(frames::data(1, piece));
  EXPECT_EQ(said(), "");
  // More than the connection's window, on the other stream.
  std::size_t got = 0;
  std::string updates;
  for (int i = 0; i < 1104; ++i) {
    stream_->feed(frames::data(3, piece));
    if (i % 16 != 15) continue;
    settle();
    got += told(other).size();
    updates += said() + " ";
  }
  EXPECT_GT(got, 1104U * piece.size());
  EXPECT_NE(updates.find("WINDOW_UPDATE(0)"), std::string::npos);
  EXPECT_NE(updates.find("WINDOW_UPDATE(3)"), std::string::npos);
  EXPECT_EQ(updates.find("WINDOW_UPDATE(1)"), std::string::npos);
  // Returned data counts as consumed at the next read.
  on_loop([&] {
    const auto step = slow->read();
    EXPECT_EQ(step.value().data.size(), 70 * piece.size());
  });
  EXPECT_EQ(said(), "");
  EXPECT_EQ(told(slow), "");
  EXPECT_EQ(said(), "WINDOW_UPDATE(1)");
}

TEST_F(H2ConnectionTest, EndingAnExchangeCancelsItsStream) {
  H2Call first = greeted();
  H2Call second = get();
  feed(head(3, {}, frames::whole));
  said();
  end(first);
  EXPECT_EQ(said(), "RST_STREAM(1,CANCEL)");
  end(second);  // complete, though never read
  EXPECT_EQ(said(), "");
  feed(head(1) + frames::data(1, "late", frames::end));
  EXPECT_EQ(said(), "");
  EXPECT_EQ(pool_->idle_count(), 1U);
}

TEST_F(H2ConnectionTest, CapacityIsThatOfTheServer) {
  H2Call first = greeted({{3, 1}});
  EXPECT_EQ(connection_->capacity(), 1U);
  auto waiting = acquire();
  on_loop([&waiting] { waiting.start(nullptr, nullptr); });
  EXPECT_FALSE(waiting.is_done());
  feed(frames::settings({{3, 2}}));
  ASSERT_TRUE(waiting.is_done());
  Pool::Lease second = waiting.result().value();
  EXPECT_EQ(&second.connection(), connection_);
  EXPECT_TRUE(second.is_reused());
  EXPECT_EQ(connection_->capacity(), 2U);
  auto again = begin(Method::Get, "/", {}, {}, false);
  ASSERT_TRUE(again);
  auto none = begin(Method::Get, "/", {}, {}, false);
  EXPECT_EQ(none.error().code(), Errc::Closed);
  on_loop([&] { again->reset(); });
}

TEST_F(H2ConnectionTest, ACancelledRequestMakesRoomAtOnce) {
  H2Call first = greeted({{3, 1}});
  end(first);
  EXPECT_EQ(said(), "RST_STREAM(1,CANCEL)");
  EXPECT_EQ(pool_->idle_count(), 1U);
  const H2Call next = get();
  EXPECT_EQ(said(), "HEADERS(3)!");
}

TEST_F(H2ConnectionTest, GoawayLetsGoOnWhatTheServerWillAnswer) {
  H2Call first = greeted();
  H2Call second = get();
  feed(head(1) + frames::goaway(1, h2::ErrorCode::NoError));
  EXPECT_EQ(told(second), "error: GOAWAY: the connection is closed");
  EXPECT_TRUE(second->is_unprocessed());
  EXPECT_FALSE(first->is_unprocessed());
  EXPECT_EQ(connection_->capacity(), 0U);
  end(second);
  feed(frames::data(1, "rest", frames::end));
  EXPECT_EQ(told(first), "Head(200) [rest] Complete");
  EXPECT_FALSE(is_gone_);
  end(first);
  EXPECT_TRUE(is_gone_);
  EXPECT_EQ(pool_->size(), 0U);
}

TEST_F(H2ConnectionTest, AnIdleConnectionClosesWithTheServer) {
  for (const std::string& last : {frames::goaway(1, h2::ErrorCode::NoError), std::string()}) {
    H2Call call = greeted();
    feed(head(1, {}, frames::whole));
    end(call);
    EXPECT_EQ(pool_->idle_count(), 1U);
    if (last.empty()) stream_->finish();
    feed(last);
    EXPECT_TRUE(is_gone_);
    EXPECT_EQ(pool_->size(), 0U);
  }
}

TEST_F(H2ConnectionTest, SaysGoodbyeWhenThePoolHasNoUseForIt) {
  H2Call call = greeted();
  feed(head(1, {}, frames::whole));
  end(call);
  said();
  on_loop([this] {
    pool_->close_all();
    EXPECT_EQ(said(), "GOAWAY(0,NO_ERROR)");
  });
  EXPECT_TRUE(is_gone_);
}

TEST_F(H2ConnectionTest, ARetiredConnectionClosesWithItsLastExchange) {
  H2Call first = greeted();
  H2Call second = get();
  on_loop([this] { pool_->close_all(); });
  feed(head(1, {}, frames::whole));
  end(first);
  EXPECT_FALSE(is_gone_);
  feed(head(3, {}, frames::whole));
  EXPECT_EQ(told(second), "Head(200) Complete");
  end(second);
  EXPECT_TRUE(is_gone_);
}

TEST_F(H2ConnectionTest, ALostConnectionFailsWhatIsNotWhole) {
  for (const Errc how : {Errc::None, Errc::Reset}) {
    H2Call whole = greeted();
    H2Call half = get();
    feed(head(1, {}, frames::whole) + head(3) + frames::data(3, "ha"));
    stream_->finish(how);
    settle();
    EXPECT_EQ(told(whole), "Head(200) Complete");
    const std::string why =
        how == Errc::None ? "HTTP/2: the connection is closed" : "the peer reset the connection";
    EXPECT_EQ(told(half), "Head(200) [ha] error: " + why);
    EXPECT_FALSE(half->is_unprocessed());
    EXPECT_TRUE(half->has_begun());
    EXPECT_FALSE(is_gone_);  // leases are left
    end(half);
    EXPECT_FALSE(is_gone_);
    end(whole);
    EXPECT_TRUE(is_gone_);
  }
}

TEST_F(H2ConnectionTest, ALeaseThatWasNotUsedYetOutlivesTheEnd) {
  Pool::Lease held = lease();
  stream_->finish();
  settle();
  EXPECT_FALSE(is_gone_);
  const auto begun = begin(Method::Get, "/", {}, {}, false);
  EXPECT_EQ(begun.error().code(), Errc::Closed);
  on_loop([&held] { held.release(); });
  EXPECT_TRUE(is_gone_);
}

TEST_F(H2ConnectionTest, WhatBreaksTheRulesEndsAllOfIt) {
  H2Call first = greeted();
  H2Call second = get();
  said();
  feed(frames::data(0, "x"));
  EXPECT_EQ(said(), "GOAWAY(0,PROTOCOL_ERROR)");
  EXPECT_EQ(told(first), "error: PROTOCOL_ERROR: a frame is malformed");
  EXPECT_EQ(told(second), "error: PROTOCOL_ERROR: a frame is malformed");
  end(first);
  end(second);
  EXPECT_TRUE(is_gone_);
}

TEST_F(H2ConnectionTest, ResponsesAreBounded) {
  limits_.body.body_bytes = 10;
  limits_.head.fields = 3;
  limits_.interim_responses = 1;
  const H2Call long_ago = greeted();
  const H2Call told_long = get();
  const H2Call sent_long = get();
  const H2Call fine = get();
  const H2Call fields = get();
  const H2Call interim = get();
  said();
  feed(head(3, {{"content-length", "11"}}) + head(5) + frames::data(5, "0123456789") +
       frames::data(5, "x") + head(7) + frames::data(7, "0123456789", frames::end) +
       head(9, frames::Fields(4, {"a", "b"})) + head(11, {}, frames::open, "100") +
       head(11, {}, frames::open, "100"));
  EXPECT_EQ(told(told_long), "Head(200) error: response: the content is too long");
  EXPECT_EQ(told(sent_long), "Head(200) [0123456789] error: response: the content is too long");
  EXPECT_EQ(told(fine), "Head(200) [0123456789] Complete");
  EXPECT_EQ(told(fields), "error: response: there are too many header fields");
  EXPECT_EQ(told(interim), "Interim(100) error: there are too many interim responses");
  EXPECT_EQ(said(),
            "RST_STREAM(3,CANCEL) RST_STREAM(5,CANCEL) RST_STREAM(9,CANCEL) "
            "RST_STREAM(11,ENHANCE_YOUR_CALM)");
}

// The server has answered, so the connection was not dead before.
TEST_F(H2ConnectionTest, AHeadThatIsRefusedHasBegunAllTheSame) {
  limits_.head.fields = 3;
  const H2Call malformed = greeted();
  const H2Call large = get();
  const H2Call unanswered = get();
  feed(head(1, {{"Upper", "case"}}) + head(3, frames::Fields(4, {"a", "b"})) +
       frames::reset(5, h2::ErrorCode::InternalError));
  EXPECT_EQ(told(malformed), "error: response: a header field is malformed");
  EXPECT_TRUE(malformed->has_begun());
  EXPECT_EQ(told(large), "error: response: there are too many header fields");
  EXPECT_TRUE(large->has_begun());
  EXPECT_EQ(told(unanswered), "error: INTERNAL_ERROR: the peer reset the connection");
  EXPECT_FALSE(unanswered->has_begun());
}

// A connection that died silently would fail every request sent over it.
TEST_F(H2ConnectionTest, AConnectionThatFallsSilentTakesNoMoreRequests) {
  H2Call first = greeted();
  H2Call other = get();
  clock_.advance(2s);
  end(first);  // an impatient caller proves nothing about the server
  EXPECT_NE(connection_->capacity(), 0U);
  H2Call second = get();
  clock_.advance(2s);
  end(second);
  EXPECT_EQ(connection_->capacity(), 0U);
  EXPECT_FALSE(is_gone_);
  end(other);
  EXPECT_TRUE(is_gone_);
}

TEST_F(H2ConnectionTest, WhatAnswersAnythingIsNotSilent) {
  H2Call first = greeted();
  clock_.advance(10s);
  feed(frames::ping());
  clock_.advance(2s);
  end(first);
  EXPECT_EQ(pool_->idle_count(), 1U);
  H2Call second = get();
  feed(head(3, {}, frames::whole));
  end(second);
  clock_.advance(30s);  // no request is pending
  H2Call third = get();
  end(third);
  EXPECT_EQ(pool_->idle_count(), 1U);
}

TEST_F(H2ConnectionTest, RefusesWhatHttp1Refuses) {
  const Pool::Lease held = lease();
  FieldLines hosts;
  hosts.add("Host", "a");
  hosts.add("Host", "b");
  EXPECT_EQ(begin(Method::Get, "/", {}, hosts, false).error().code(), Errc::InvalidHost);
  EXPECT_EQ(begin(Method::Trace, "/", "x", {}, false).error().code(), Errc::Unsupported);
  EXPECT_EQ(begin(Method::Connect, "/", {}, {}, false).error().code(), Errc::Unsupported);
}

// Whatever fails, every exchange ends, and so does the connection.
TEST_F(H2ConnectionTest, EveryOperationMayFail) {
  for (failing_operation_ = 1;; ++failing_operation_) {
    H2Call first = attempt(Method::Get);
    H2Call second = attempt(Method::Post, "/", std::string(100'000, 'x'));
    if (!is_gone_) {
      feed(frames::settings() + frames::settings_ack());
      feed(frames::window_update(0, 100'000) + frames::window_update(3, 100'000));
      feed(head(1, {}, frames::whole) + head(3) + frames::data(3, "x", frames::end));
    }
    const bool is_last = fault_->operation_count() < failing_operation_;
    if (!is_gone_) stream_->finish();
    settle();
    const std::string outcomes[] = {told(first), told(second)};
    for (const std::string& outcome : outcomes) {
      EXPECT_TRUE(outcome.ends_with("Complete") || outcome.find("error") != std::string::npos)
          << failing_operation_ << ": " << outcome;
      EXPECT_TRUE(!is_last || outcome.ends_with("Complete")) << outcome;
    }
    end(first);
    end(second);
    EXPECT_TRUE(is_gone_) << failing_operation_;
    ASSERT_LT(failing_operation_, 100U);
    if (is_last) break;
  }
  EXPECT_GT(failing_operation_, 5U);
  fault_ = nullptr;
}

// Heads -------------------------------------------------------------------------------------------

/// A head that is fifteen times the newest field of the dynamic table: 60 KB, by 20 bytes.
class H2ConnectionHeads : public H2ConnectionTest {
 protected:
  static constexpr std::size_t long_bytes = 3'900;
  static constexpr std::size_t references = 15;
  static constexpr std::size_t of_one = references * (long_bytes + 6 + h2::field_charge);

  static std::string expanding(std::string block = {}) {
    for (std::size_t n = 0; n < references; ++n) block += frames::indexed(62);
    return block;
  }
  void remember() {  // the field, in an interim response
    const H2Call first = greeted();
    feed(frames::headers(1, frames::field(":status", "103") + long_field(), frames::open));
    EXPECT_EQ(told(first), "Interim(103) ");
  }
  static std::string long_field() {
    return frames::remembered("x-long", std::string(long_bytes, 'l'));
  }
  static std::string answer(std::uint32_t id, unsigned flags = frames::open,
                            std::string_view status = "200") {
    return frames::headers(id, expanding(frames::field(":status", status)), flags);
  }
};

TEST_F(H2ConnectionHeads, ThatNobodyReadsHaveABudget) {
  remember();
  std::vector<H2Call> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(get());
  said();
  for (std::uint32_t id = 3; id <= 11; id += 2) feed(answer(id));
  EXPECT_EQ(said(), "RST_STREAM(9,CANCEL) RST_STREAM(11,CANCEL)") << "3 of 60 KB, below 200 kB";
  EXPECT_LE(heads_.held_bytes(), 200'000U);
  EXPECT_GE(heads_.held_bytes(), 3 * of_one);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told(calls[i]), "Head(200) ");
  const std::string error = told(calls[3]);
  EXPECT_NE(error.find("the header section is too long"), error.npos) << error;
  // The room of an exchange that has ended can be used again.
  end(calls[0]);
  said();
  H2Call next = get();
  feed(answer(13, frames::whole));
  EXPECT_EQ(told(next), "Head(200) Complete");
  end(next);
  calls.clear();
  settle();
  EXPECT_EQ(heads_.held_bytes(), 0U);
}

TEST_F(H2ConnectionHeads, ThatAreInterimAreReleasedOnceTheyAreRead) {
  limits_.interim_bytes = 1 << 20;
  remember();
  H2Call call = get();
  for (int i = 0; i < 10; ++i) {
    feed(answer(3, frames::open, "103"));
    EXPECT_EQ(told(call), "Interim(103) ");
    EXPECT_LT(heads_.held_bytes(), of_one + 100);
  }
  for (int i = 0; i < 4; ++i) feed(answer(3, frames::open, "103"));
  EXPECT_TRUE(call->has_begun());
  EXPECT_NE(told(call).find("error: "), std::string::npos) << "unread";
  end(call);
  EXPECT_EQ(heads_.held_bytes(), 0U);
}

TEST_F(H2ConnectionHeads, OfTrailersCount) {
  limits_.body.trailer_bytes = 64 * 1024;
  remember();
  std::vector<H2Call> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(get());
  for (std::uint32_t id = 3; id <= 9; id += 2) {
    feed(head(id) + frames::headers(id, expanding(), frames::whole));
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(told(calls[i]), "Head(200) Complete");
  const std::string last = told(calls[3]);
  EXPECT_NE(last.find("the header section is too long"), last.npos) << last;
}

TEST(HeadBudget, IsSharedByTheConnectionsOfAClient) {
  HeadBudget budget(200, 300);
  std::size_t first = 0;
  std::size_t second = 0;
  EXPECT_FALSE(budget.take(first, 201));
  EXPECT_TRUE(budget.take(first, 200));
  EXPECT_FALSE(budget.take(first, 1));
  EXPECT_FALSE(budget.take(second, 101));
  EXPECT_TRUE(budget.take(second, 100));
  budget.give_back(first, 50);
  EXPECT_TRUE(budget.take(second, 50));
  EXPECT_EQ(budget.held_bytes(), 300U);
}

}  // namespace
}  // namespace skua::client
