// SPDX-License-Identifier: MIT
#include "h2/abuse_guard.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>

namespace skua::h2 {
namespace {

using namespace std::chrono_literals;

constexpr loop::Instant start{};

/// Returns how often an action may occur at once before the connection ends.
int burst(Abuse what) {
  AbuseGuard guard({}, start);
  for (int times = 0; times < 1'000'000; ++times) {
    if (guard.is_over_mark()) return times - 1;
    guard.charge(what, start);
  }
  return -1;
}

/// Reports whether 15 minutes of `each_second` stay below the mark.
bool is_fine(const std::function<void(AbuseGuard&, loop::Instant)>& each_second) {
  AbuseGuard guard({}, start);
  for (int second = 0; second < 900; ++second) {
    each_second(guard, start + second * 1s);
    if (guard.is_over_mark()) return false;
  }
  return true;
}

void repeat(AbuseGuard& guard, Abuse what, int times, loop::Instant now) {
  for (int i = 0; i < times; ++i) guard.charge(what, now + i * (1s / times));
}

TEST(AbuseGuard, EndsAtTheMark) {
  EXPECT_EQ(burst(Abuse::PeerReset), 200);
  EXPECT_EQ(burst(Abuse::ProvokedReset), 100);
  EXPECT_EQ(burst(Abuse::RefusedStream), 4000);
  EXPECT_EQ(burst(Abuse::EmptyData), 200);
  EXPECT_EQ(burst(Abuse::PaddedData), 1000);
  EXPECT_EQ(burst(Abuse::LateFrame), 20'000);
  EXPECT_EQ(burst(Abuse::Settings), 500);
  EXPECT_EQ(burst(Abuse::Ping), 1000);
  EXPECT_EQ(burst(Abuse::Priority), 2000);
  EXPECT_EQ(burst(Abuse::WindowUpdate), 20'000);
  EXPECT_EQ(burst(Abuse::TinyWindowUpdate), 1000);
  EXPECT_EQ(burst(Abuse::Continuation), 1000);
  EXPECT_EQ(burst(Abuse::UnknownFrame), 1000);
}

TEST(AbuseGuard, ForgivesAsTimePasses) {
  AbuseGuard guard({.mark = 1000, .leak_per_second = 10}, start);
  guard.charge(Abuse::PeerReset, start);
  guard.charge(Abuse::WindowUpdate, start + 50ms);  // half a point has leaked
  EXPECT_EQ(guard.score(), 101U);
  guard.charge(Abuse::WindowUpdate, start + 100ms);  // two halves make one point
  EXPECT_EQ(guard.score(), 101U);
  guard.charge(Abuse::WindowUpdate, start + 5s);
  EXPECT_EQ(guard.score(), 101U - 49 + 1);
  guard.charge(Abuse::WindowUpdate, start + 1h);
  EXPECT_EQ(guard.score(), 1U);
}

TEST(AbuseGuard, DoesNotSaveUpForLater) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < 100'000; ++i) guard.responded();
  EXPECT_EQ(guard.score(), 0U);
  repeat(guard, Abuse::PeerReset, 201, start + 24h);
  AbuseGuard fresh({}, start + 24h);
  repeat(fresh, Abuse::PeerReset, 201, start + 24h);
  EXPECT_EQ(guard.score(), fresh.score());
}

TEST(AbuseGuard, ATimeThatGoesBackIsNoHarm) {
  AbuseGuard guard({}, start + 10s);
  guard.charge(Abuse::PeerReset, start);
  EXPECT_EQ(guard.score(), 100U);
}

TEST(AbuseGuard, StopsWhatGoesOnForEver) {
  EXPECT_FALSE(is_fine(
      [](AbuseGuard& guard, loop::Instant now) { repeat(guard, Abuse::PeerReset, 30, now); }));
  EXPECT_FALSE(is_fine(
      [](AbuseGuard& guard, loop::Instant now) { repeat(guard, Abuse::ProvokedReset, 15, now); }));
  EXPECT_FALSE(
      is_fine([](AbuseGuard& guard, loop::Instant now) { repeat(guard, Abuse::Ping, 200, now); }));
  // One reset per answered request is forgiven; two are not.
  EXPECT_FALSE(is_fine([](AbuseGuard& guard, loop::Instant now) {
    for (int i = 0; i < 100; ++i) guard.responded();
    repeat(guard, Abuse::PeerReset, 200, now);
  }));
}

TEST(AbuseGuard, AVisitorWhoLeavesAFullPageIsFine) {
  AbuseGuard guard({}, start);
  repeat(guard, Abuse::PeerReset, 100, start);
  repeat(guard, Abuse::Priority, 100, start);
  EXPECT_FALSE(guard.is_over_mark());
}

TEST(AbuseGuard, ABrowserAtWorkIsFine) {
  EXPECT_TRUE(is_fine([](AbuseGuard& guard, loop::Instant now) {
    repeat(guard, Abuse::Priority, 60, now);
    repeat(guard, Abuse::WindowUpdate, 200, now);
    repeat(guard, Abuse::PeerReset, 5, now);
    repeat(guard, Abuse::Ping, 1, now);
    for (int i = 0; i < 30; ++i) guard.responded();
  }));
}

// Patterns of real peers, at four times their rate. See
// docs/decisions/0018-what-is-charged-as-abuse.md.

constexpr std::size_t whole_frame = 16 * 1024;
constexpr int download_frames = 300'000'000 / 16'384;

/// Returns the windows of the stream and the connection in these pieces.
void give_back(AbuseGuard& guard, std::initializer_list<std::uint32_t> pieces) {
  for (int times = 0; times < 4; ++times) {
    for (const std::uint32_t piece : pieces) {
      guard.take_window_update(piece, start);
      guard.take_window_update(piece, start);
    }
  }
}

TEST(AbuseGuard, HaproxyThatGivesAWindowBackInTwoPiecesIsFine) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < download_frames; ++i) {
    guard.sent_data(whole_frame, false);
    give_back(guard, {16'320, 64});
  }
  EXPECT_EQ(guard.score(), 0U);
}

TEST(AbuseGuard, APeerWithASmallWindowIsFine) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < download_frames; ++i) {
    guard.sent_data(1024, true);
    give_back(guard, {1024});
  }
  EXPECT_EQ(guard.score(), 0U);
}

TEST(AbuseGuard, AGoServerThatReadsBy512BytesIsFine) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < download_frames; ++i) {
    guard.sent_data(whole_frame, false);
    for (std::size_t read = 0; read < whole_frame; read += 512) give_back(guard, {512});
  }
  EXPECT_EQ(guard.score(), 0U);
}

TEST(AbuseGuard, SmallMessagesEachAcknowledgedAreFine) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < 100'000; ++i) {
    guard.sent_data(20, false);
    give_back(guard, {20});
  }
  EXPECT_EQ(guard.score(), 0U);
}

TEST(AbuseGuard, GrpcThatMeasuresEveryRoundTripIsFine) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < 100'000; ++i) {
    guard.sent_frame();
    for (int times = 0; times < 4; ++times) guard.take_ping(start);
  }
  EXPECT_EQ(guard.score(), 0U);
  EXPECT_TRUE(is_fine([](AbuseGuard& its_guard, loop::Instant now) {
    repeat(its_guard, Abuse::Settings, 4 * 10, now);
  }));
}

TEST(AbuseGuard, AClientThatDoesNotKnowTheLimitYetIsFine) {
  AbuseGuard guard({}, start);
  repeat(guard, Abuse::RefusedStream, 4 * 900, start);
  EXPECT_FALSE(guard.is_over_mark());
}

TEST(AbuseGuard, AWindowThatOpensByDropsIsNot) {
  AbuseGuard guard({}, start);
  int frames = 0;
  for (; frames < 100'000 && !guard.is_over_mark(); ++frames) {
    guard.take_window_update(1, start);
    guard.sent_data(1, true);
  }
  EXPECT_LT(frames, 1100);
  EXPECT_STREQ(guard.reason(), "too many tiny WINDOW_UPDATE frames");
}

TEST(AbuseGuard, ALongDownloadSavesNothingUpForOtherThings) {
  AbuseGuard guard({}, start);
  for (int i = 0; i < download_frames; ++i) {
    guard.sent_data(whole_frame, false);
    guard.sent_frame();
  }
  repeat(guard, Abuse::PeerReset, 201, start);
  EXPECT_TRUE(guard.is_over_mark());
  EXPECT_STREQ(guard.reason(), "too many reset requests");
  AbuseGuard other({}, start);
  for (int i = 0; i < download_frames; ++i) other.sent_data(whole_frame, false);
  int updates = 0;
  for (; updates < 100'000 && !other.is_over_mark(); ++updates) other.take_window_update(1, start);
  EXPECT_LT(updates, 18'000) << "what a mebibyte calls for, and the mark";
}

TEST(AbuseGuard, UploadsThatWereOnTheirWayWhenTheyWereRefusedAreFine) {
  AbuseGuard guard({}, start);
  repeat(guard, Abuse::LateFrame, 100 * 64, start);  // a hundred windows in frames of 1 KiB
  EXPECT_FALSE(guard.is_over_mark());
}

TEST(AbuseGuard, LongCookiesInContinuationsAreFine) {
  EXPECT_TRUE(is_fine([](AbuseGuard& guard, loop::Instant now) {
    for (int i = 0; i < 500; ++i) {
      repeat(guard, Abuse::Continuation, 4, now);
      guard.responded();
    }
  }));
}

}  // namespace
}  // namespace skua::h2
