// SPDX-License-Identifier: MIT
// Runs all response cases, including those that only a client meets, through the reader: whole,
// byte by byte, and split in two at every position.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "h1/response_reader.hpp"
#include "support/case_file.hpp"
#include "support/case_player.hpp"
#include "support/paths.hpp"

namespace skua::h1 {
namespace {

using testing::Case;
using testing::Expected;

/// A client connection without a network that repeats the same request.
class ResponsePlayer {
 public:
  explicit ResponsePlayer(const Case& test_case)
      : case_(test_case),
        request_{.method = *parse_method(test_case.answer_to),
                 .offers_upgrade = test_case.offers_upgrade},
        reader_({.head = {.target_bytes = test_case.limit("target_bytes", 8_KiB),
                          .field_line_bytes = test_case.limit("field_line_bytes", 16_KiB),
                          .head_bytes = test_case.limit("head_bytes", 64_KiB),
                          .fields = static_cast<std::uint16_t>(test_case.limit("fields", 128))},
                 .body = {.body_bytes = test_case.limit("body_bytes", 10_MiB)},
                 .interim_responses =
                     static_cast<std::uint16_t>(test_case.limit("interim_responses", 32)),
                 .interim_bytes =
                     static_cast<std::uint32_t>(test_case.limit("interim_bytes", 64_KiB))}) {
    reader_.start(request_);
  }
  ResponsePlayer(const ResponsePlayer&) = delete;
  ResponsePlayer& operator=(const ResponsePlayer&) = delete;

  void feed(std::string_view piece) {
    while (!is_over_ && read(piece)) {
    }
    if (is_over_ && !events_.empty()) events_.back().rest += piece;
  }

  std::vector<Expected> finish() {
    if (is_over_ || !has_begun_) return events_;
    if (case_.then_close) {
      const Result<void> end = reader_.end_of_input();
      EXPECT_EQ(end.error().code(), reader_.error().code());
      std::string_view nothing;
      read(nothing);
      EXPECT_FALSE(reader_.can_be_reused());
    } else {
      events_.emplace_back().kind = Expected::Kind::More;
    }
    return events_;
  }

 private:
  /// Reads one event. Returns false if more input is needed.
  bool read(std::string_view& piece) {
    const ResponseReader::Step step = reader_.read(piece);
    EXPECT_LE(step.consumed_bytes, piece.size());
    piece.remove_prefix(step.consumed_bytes);
    has_begun_ = has_begun_ || step.consumed_bytes != 0;
    switch (step.event) {
      case ResponseEvent::NeedMore: EXPECT_TRUE(piece.empty()); return false;
      case ResponseEvent::Interim:
        begin_message();
        current_.close = !reader_.framing().keep_alive || reader_.framing().length_bytes != 0 ||
                         reader_.head().has(http::FieldName::TransferEncoding);
        end_message();
        break;
      case ResponseEvent::Head:
        begin_message();
        is_in_body_ = true;
        break;
      case ResponseEvent::Data:
        EXPECT_FALSE(step.data.empty());
        current_.body += step.data;
        break;
      case ResponseEvent::Complete:
        current_.trailers = testing::fields_of(reader_.trailers());
        current_.fields = testing::fields_of(reader_.head());  // still valid after the body
        current_.close = !reader_.can_be_reused();
        is_over_ = current_.close;
        end_message();
        reader_.start(request_);
        break;
      case ResponseEvent::Switched:
        is_over_ = true;
        end_message();
        break;
      case ResponseEvent::Failed: fail(); break;
    }
    return true;
  }

  void begin_message() {
    current_ = {};
    current_.status = reader_.head().status;
    current_.minor_version = reader_.head().minor_version;
    current_.upgrade = !reader_.framing().upgrade.empty();
    current_.fields = testing::fields_of(reader_.head());
  }

  void end_message() {
    is_in_body_ = has_begun_ = false;
    events_.push_back(current_);
  }

  void fail() {
    Expected failure;
    failure.kind = Expected::Kind::Failure;
    failure.error = testing::errc_name(reader_.error().code());
    failure.status = static_cast<int>(code(status_for(reader_.error().code())));
    failure.in_body = is_in_body_;
    events_.push_back(failure);
    is_over_ = true;
  }

  const Case& case_;
  const ResponseTo request_;
  ResponseReader reader_;
  Expected current_;
  std::vector<Expected> events_;
  bool has_begun_ = false;  // a message that has no event yet
  bool is_in_body_ = false;
  bool is_over_ = false;
};

std::vector<Case> response_cases() {
  const auto folder = std::filesystem::path(testing::source_path("tests/cases"));
  std::vector<Case> cases = testing::read_case_files(folder);
  std::erase_if(cases, [](const Case& one) { return !one.is_response; });
  for (Case& one : testing::read_case_files(folder / "client")) cases.push_back(std::move(one));
  return cases;
}

TEST(ResponseCases, ThereAreMany) { EXPECT_GE(response_cases().size(), 100U); }

TEST(ResponseCases, AllAtOnce) { testing::check_all_at_once<ResponsePlayer>(response_cases()); }

TEST(ResponseCases, ByteByByte) { testing::check_byte_by_byte<ResponsePlayer>(response_cases()); }

TEST(ResponseCases, AtEverySplitInTwo) {
  testing::check_every_split_in_two<ResponsePlayer>(response_cases());
}

}  // namespace
}  // namespace skua::h1
