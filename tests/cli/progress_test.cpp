// SPDX-License-Identifier: MIT
#include "progress.hpp"

#include <gtest/gtest.h>

#include <string>

#include "get/report.hpp"

namespace skua::cli {
namespace {

using namespace std::chrono_literals;

constexpr Transfer::Time start{};

TEST(Texts, SizesAndTimesHaveUnits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1024), "1.0 KiB");
  EXPECT_EQ(size_text(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(size_text(1536ULL << 20), "1.5 GiB");
  EXPECT_EQ(size_text(~0ULL), "16.0 EiB");
  EXPECT_EQ(clock_text(7s), "0:07");
  EXPECT_EQ(clock_text(750s), "12:30");
  EXPECT_EQ(clock_text(3723s), "1:02:03");
  EXPECT_EQ(milliseconds_text(1234us), "1.23 ms");
  EXPECT_EQ(milliseconds_text(45'600us), "45.6 ms");
  EXPECT_EQ(milliseconds_text(456ms), "456 ms");
  EXPECT_EQ(milliseconds_text(7'890ms), "7.89 s");
}

TEST(Transfer, ALineSaysHowFarItIs) {
  Transfer transfer("a.iso", 4096, 0, start);
  transfer.advance(1024, start + 1s);
  EXPECT_EQ(transfer.line(80, start + 1s),
            "a.iso  [=====>                 ]   25%  1.0 KiB of 4.0 KiB  1.0 KiB/s  0:03 left");
  EXPECT_EQ(transfer.line(50, start + 1s), "a.iso   25%  1.0 KiB of 4.0 KiB  1.0 KiB/s  0:03 ~");
  transfer.advance(4096, start + 2s);
  EXPECT_EQ(transfer.summary(start + 2s), "4.0 KiB in 0:02, 2.0 KiB/s");
  EXPECT_EQ(transfer.summary(start + 900ms), "4.0 KiB");
}

TEST(Transfer, WhatIsThereIsNotCountedAsFast) {
  Transfer transfer("a", 4096, 2048, start);
  transfer.advance(3072, start + 1s);
  EXPECT_NE(transfer.line(80, start + 1s).find(" 75%  3.0 KiB of 4.0 KiB  1.0 KiB/s  0:01 left"),
            std::string::npos);
}

TEST(Transfer, AnUnknownTotalIsLeftOut) {
  Transfer transfer("a\x1b[2J\n", std::nullopt, 0, start);
  transfer.advance(1024, start + 1s);
  EXPECT_EQ(transfer.line(80, start + 1s), "a\\x1b[2J   1.0 KiB  1.0 KiB/s  0:01");
}

TEST(Transfer, TheRateIsThatOfTheLastSeconds) {
  Transfer transfer("a", std::nullopt, 0, start);
  transfer.advance(1 << 20, start + 1s);
  for (int i = 0; i < 40; ++i) transfer.advance(1 << 20, start + 1s + i * 500ms);
  EXPECT_NE(transfer.line(80, start + 21s).find("  0 B/s"), std::string::npos);
}

TEST(ProgressBoard, IsDrawnTenTimesASecond) {
  ProgressBoard board;
  EXPECT_EQ(board.draw(80, start), "");
  const std::size_t one = board.add("one", 100, 0, start);
  EXPECT_TRUE(board.draw(80, start).starts_with("one "));
  board.advance(one, 10, start + 99ms);
  EXPECT_EQ(board.draw(80, start + 99ms), "");
  EXPECT_TRUE(board.draw(80, start + 100ms).starts_with("\x1b[1A\r\x1b[Jone "));
  EXPECT_EQ(board.clear(80), "\x1b[1A\r\x1b[J");
  EXPECT_EQ(board.clear(80), "");
  EXPECT_TRUE(board.draw(80, start + 101ms).starts_with("one "));
}

TEST(ProgressBoard, WhatHasEndedIsDrawnNoMore) {
  ProgressBoard board;
  board.add("one", 100, 0, start);
  const std::size_t two = board.add("two", 100, 0, start);
  static_cast<void>(board.draw(80, start));
  EXPECT_EQ(board.end(two, start + 1ms), "0 B");
  const std::string drawn = board.draw(80, start + 1ms);
  EXPECT_TRUE(drawn.starts_with("\x1b[2A\r\x1b[Jone ")) << drawn;
  EXPECT_EQ(drawn.find("two"), std::string::npos);
}

TEST(ProgressBoard, RemovesLinesThatANarrowerTerminalHasWrapped) {
  ProgressBoard board;
  board.add("one", 100, 0, start);
  board.add("two", 100, 0, start);
  const std::string drawn = board.draw(80, start);
  EXPECT_GT(drawn.find('\n'), 40U);
  EXPECT_TRUE(board.draw(40, start + 1s).starts_with("\x1b[4A\r\x1b[J"));
  EXPECT_TRUE(board.draw(200, start + 2s).starts_with("\x1b[2A\r\x1b[J"));
}

TEST(Waterfall, EachPhaseHasItsPlace) {
  const Phase phases[] = {{"resolve", 0ms, 10ms}, {"tls", 0ms, 0ms}, {"content", 10ms, 40ms}};
  EXPECT_EQ(waterfall(phases, 61),
            "resolve     10.0 ms  ==========\n"
            "content     30.0 ms            ==============================\n"
            "total       40.0 ms\n");
  EXPECT_EQ(waterfall(phases, 10),
            "resolve     10.0 ms\ncontent     30.0 ms\ntotal       40.0 ms\n");
  EXPECT_EQ(waterfall({}, 80), "total     0.00 ms\n");
}

}  // namespace
}  // namespace skua::cli
