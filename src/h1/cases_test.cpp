// SPDX-License-Identifier: MIT
// Runs every case file through parser, framing and decoder: whole, byte by byte, and split in two
// at every position.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"
#include "support/case_file.hpp"
#include "support/case_player.hpp"
#include "support/paths.hpp"

namespace skua::h1 {
namespace {

using testing::Case;
using testing::Expected;

/// A connection without a network. In: bytes. Out: messages and errors.
class Player {
 public:
  explicit Player(const Case& test_case)
      : case_(test_case),
        parser_(test_case.is_response ? HeadKind::Response : HeadKind::Request,
                {.target_bytes = test_case.limit("target_bytes", 8_KiB),
                 .field_line_bytes = test_case.limit("field_line_bytes", 16_KiB),
                 .head_bytes = test_case.limit("head_bytes", 64_KiB),
                 .fields = static_cast<std::uint16_t>(test_case.limit("fields", 128))},
                storage_) {}
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  void feed(std::string_view piece) {
    while (!piece.empty() && !closed_) {
      if (in_body_) {
        feed_body(piece);
      } else {
        feed_head(piece);
      }
    }
  }

  std::vector<Expected> finish() {
    if (case_.then_close && in_body_ && !closed_) {
      const Result<void> end = decoder_.end_of_input();
      if (end) {
        end_message();
      } else {
        fail(end.error().code(), true);
      }
    }
    if (in_body_ || !received_.empty()) {
      Expected more;
      more.kind = Expected::Kind::More;
      if (!closed_) events_.push_back(more);
    }
    return events_;
  }

 private:
  void feed_head(std::string_view& piece) {
    const std::size_t before = received_.size();
    received_ += piece;
    switch (parser_.parse(received_)) {
      case ParseStatus::NeedMore: piece = {}; return;
      case ParseStatus::Failed: return fail(parser_.error(), false);
      case ParseStatus::Complete: break;
    }
    piece.remove_prefix(parser_.head().size_bytes - before);
    const http::Head& head = parser_.head();
    const Result<Framing> framing = case_.is_response
                                        ? frame_response(head, *parse_method(case_.answer_to))
                                        : frame_request(head);
    if (!framing) return fail(framing.error().code(), false);
    begin_message(head, *framing);
  }

  void begin_message(const http::Head& head, const Framing& framing) {
    current_ = {};
    if (case_.is_response) {
      current_.status = head.status;
    } else {
      current_.method = head.method_name();
      current_.target = head.target();
    }
    current_.minor_version = head.minor_version;
    current_.host = framing.host;
    current_.close = !framing.keep_alive;
    current_.expect_continue = framing.expect_continue;
    current_.upgrade = !framing.upgrade.empty();
    current_.fields = testing::fields_of(head);
    received_.clear();
    parser_.reset();
    in_body_ = true;
    const Result<void> started =
        decoder_.start(framing, {.body_bytes = case_.limit("body_bytes", 10_MiB)});
    if (!started) return fail(started.error().code(), true);
    if (decoder_.is_done()) end_message();
  }

  void feed_body(std::string_view& piece) {
    const BodyDecoder::Step step = decoder_.step(piece);
    current_.body += step.data;
    piece.remove_prefix(step.consumed_bytes);
    if (step.status == BodyStatus::Failed) return fail(decoder_.error(), true);
    if (step.status == BodyStatus::Done) end_message();
  }

  void end_message() {
    in_body_ = false;
    current_.trailers = testing::fields_of(decoder_.trailers());
    closed_ = current_.close || current_.upgrade || current_.method == "CONNECT";
    events_.push_back(current_);
  }

  void fail(Errc error, bool in_body) {
    Expected failure;
    failure.kind = Expected::Kind::Failure;
    failure.error = testing::errc_name(error);
    failure.status = static_cast<int>(code(status_for(error)));
    failure.in_body = in_body;
    events_.push_back(failure);
    closed_ = true;
  }

  const Case& case_;
  std::array<http::FieldLine, 256> storage_;
  HeadParser parser_;
  BodyDecoder decoder_;
  std::string received_;  // of the head
  Expected current_;
  std::vector<Expected> events_;
  bool in_body_ = false;
  bool closed_ = false;
};

std::vector<Case> all_cases() {
  return testing::read_case_files(testing::source_path("tests/cases"));
}

TEST(Cases, ThereAreManyAndTheirTitlesAreUnique) {
  const std::vector<Case> cases = all_cases();
  EXPECT_GE(cases.size(), 150U);
  std::vector<std::string> titles;
  for (const Case& one : cases) titles.push_back(one.title);
  std::sort(titles.begin(), titles.end());
  const auto twice = std::adjacent_find(titles.begin(), titles.end());
  EXPECT_TRUE(twice == titles.end()) << *twice;
}

TEST(Cases, AllAtOnce) { testing::check_all_at_once<Player>(all_cases()); }

TEST(Cases, ByteByByte) { testing::check_byte_by_byte<Player>(all_cases()); }

TEST(Cases, AtEverySplitInTwo) { testing::check_every_split_in_two<Player>(all_cases()); }

}  // namespace
}  // namespace skua::h1
