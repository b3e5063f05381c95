// SPDX-License-Identifier: MIT
#include "h2/frame_scan.hpp"

#include <gtest/gtest.h>

#include <string>

#include "h2/preface.hpp"
#include "support/h2_frames.hpp"

namespace skua::h2 {
namespace {

std::string scanned(std::string_view bytes, std::size_t piece, std::size_t skipped = 0) {
  FrameScan scan(skipped);
  std::string text;
  while (!bytes.empty()) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    while (const FrameHead* const head = scan.next(input)) {
      text += std::to_string(static_cast<unsigned>(head->type)) + "/" +
              std::to_string(head->flags) + "/" + std::to_string(head->stream_id) + "/" +
              std::to_string(head->length_bytes) + "/" + std::to_string(head->first) + " ";
    }
  }
  return text;
}

TEST(FrameScan, FindsEveryHeadHoweverTheBytesAreCut) {
  const std::string bytes = std::string(client_preface) + frames::settings({{3, 100}}) +
                            frames::headers(1, "abc") + frames::window_update(0, 70'000) +
                            frames::padded_data(1, "xyz", 9, frames::end) + frames::data(1, "") +
                            frames::frame(FrameType{0x42}, 7, 0x7fff'ffff, "?") +
                            frames::data(3, std::string(300, 'x')) + frames::ping();
  const std::string expected =
      "4/0/0/6/0 1/5/1/3/0 8/0/0/4/70000 0/9/1/13/9 0/0/1/0/0 66/7/2147483647/1/0 0/0/3/300/0 "
      "6/0/0/8/0 ";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    ASSERT_EQ(scanned(bytes, piece, client_preface.size()), expected) << piece;
  }
}

TEST(FrameScan, LeavesOutReservedBits) {
  EXPECT_EQ(scanned(frames::window_update(0x8000'0005, 0x8000'0001), 99), "8/0/5/4/1 ");
}

TEST(FrameScan, TakesFramesThatAreTooShortAsTheyAre) {
  const std::string bytes = frames::frame(FrameType::WindowUpdate, 0, 0, "ab") +
                            frames::frame(FrameType::Data, frame_flags::padded, 1, "");
  EXPECT_EQ(scanned(bytes, 1), "8/0/0/2/0 0/8/1/0/0 ");
}

TEST(Preface, IsToldFromAnythingElse) {
  for (std::size_t size = 0; size < client_preface.size(); ++size) {
    EXPECT_EQ(match_preface(client_preface.substr(0, size)), PrefaceMatch::NeedMore) << size;
    std::string other(client_preface.substr(0, size));
    EXPECT_EQ(match_preface(other += '?'), PrefaceMatch::No) << size;
  }
  EXPECT_EQ(match_preface(client_preface), PrefaceMatch::Yes);
  EXPECT_EQ(match_preface(std::string(client_preface) + "more"), PrefaceMatch::Yes);
  EXPECT_EQ(match_preface("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), PrefaceMatch::No);
  EXPECT_EQ(match_preface("P"), PrefaceMatch::NeedMore);
  EXPECT_EQ(match_preface("PO"), PrefaceMatch::No);
}

}  // namespace
}  // namespace skua::h2
