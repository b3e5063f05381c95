// SPDX-License-Identifier: MIT
// Runs every case file on parser, framing and decoder: whole, byte by byte, and at every split in
// two.
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

namespace skua::h1 {
namespace {

using testing::Case;
using testing::Expected;

/// A connection without a network: bytes in, what came of them out.
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
      current_.method = name(head.method);
      current_.target = head.target();
    }
    current_.minor_version = head.minor_version;
    current_.host = framing.host;
    current_.close = !framing.keep_alive;
    current_.expect_continue = framing.expect_continue;
    current_.upgrade = !framing.upgrade.empty();
    current_.fields = copy(head);
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
    current_.trailers = copy(decoder_.trailers());
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

  static Expected::Fields copy(const http::Head& head) {
    Expected::Fields fields;
    for (const http::FieldLine& line : head.fields) {
      fields.emplace_back(head.name(line), head.value(line));
    }
    return fields;
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

std::string text_of(const Expected::Fields& fields) {
  std::string out;
  for (const auto& [field, value] : fields)
    out += " [" + field + ": " + testing::escape(value) + "]";
  return out;
}

std::string text_of(const Expected& event, const Expected& wanted) {
  if (event.kind == Expected::Kind::More) return "more";
  if (event.kind == Expected::Kind::Failure) {
    return "error " + event.error + " " + std::to_string(event.status) +
           (event.in_body ? " in body" : "");
  }
  std::string out = event.method + " " + event.target + " " + std::to_string(event.status) + " 1." +
                    std::to_string(event.minor_version) + (event.close ? " close" : "") +
                    (event.expect_continue ? " expect-continue" : "") +
                    (event.upgrade ? " upgrade" : "");
  if (wanted.check_host) out += " host=" + event.host;
  return out + " body=" + testing::escape(event.body) + " trailers" + text_of(event.trailers);
}

/// Whether the wanted fields are among the others, in order.
bool contains(const Expected::Fields& fields, const Expected::Fields& wanted) {
  auto from = fields.begin();
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& field) {
    from = std::find(from, fields.end(), field);
    return from != fields.end() && from++ != fields.end();
  });
}

/// What is wrong with the outcome, or nothing.
std::string difference(const std::vector<Expected>& events, const std::vector<Expected>& wanted) {
  std::string out;
  for (std::size_t i = 0; i < std::max(events.size(), wanted.size()); ++i) {
    const std::string want = i < wanted.size() ? text_of(wanted[i], wanted[i]) : "nothing";
    const std::string got = i < events.size()
                                ? text_of(events[i], i < wanted.size() ? wanted[i] : events[i])
                                : "nothing";
    if (want != got) out += "\n  want " + want + "\n  got  " + got;
    if (i < events.size() && i < wanted.size() && !contains(events[i].fields, wanted[i].fields)) {
      out += "\n  want fields" + text_of(wanted[i].fields) + "\n  got  fields" +
             text_of(events[i].fields);
    }
  }
  return out;
}

/// Feeds the bytes in pieces that end at `first` and then every `step` bytes.
std::vector<Expected> play(const Case& test_case, std::size_t first, std::size_t step) {
  Player player(test_case);
  const std::string_view bytes = test_case.bytes;
  player.feed(std::string(bytes.substr(0, first)));
  for (std::size_t at = first; at < bytes.size(); at += step) {
    player.feed(std::string(bytes.substr(at, step)));
  }
  return player.finish();
}

std::vector<Case> all_cases() {
  return testing::read_case_files(std::filesystem::path(SKUA_SOURCE_DIR) / "tests" / "cases");
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

TEST(Cases, AllAtOnce) {
  for (const Case& one : all_cases()) {
    EXPECT_EQ(difference(play(one, one.bytes.size(), 1), one.expected), "") << one.where();
  }
}

TEST(Cases, ByteByByte) {
  for (const Case& one : all_cases()) {
    EXPECT_EQ(difference(play(one, 0, 1), one.expected), "") << one.where();
  }
}

TEST(Cases, AtEverySplitInTwo) {
  for (const Case& one : all_cases()) {
    // Bytes that repeat themselves by the thousand are split less often.
    const std::size_t stride = one.bytes.size() > 2000 ? 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += stride) {
      ASSERT_EQ(difference(play(one, at, one.bytes.size()), one.expected), "")
          << one.where() << " split at " << at;
    }
  }
}

}  // namespace
}  // namespace skua::h1
