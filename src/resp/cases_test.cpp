// SPDX-License-Identifier: MIT
// Runs every case of tests/cases/resp through the parser: whole, byte by byte, and split in two at
// every position.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "resp/reply_parser.hpp"
#include "support/case_file.hpp"
#include "support/case_text.hpp"
#include "support/paths.hpp"

namespace skua::resp {
namespace {

using testing::CaseText;
using Event = ReplyParser::Event;

struct Case {
  std::string where{};
  std::string bytes{};
  ReplyLimits limits{};
  std::vector<std::string> expected{};
};

void read_limits(std::string_view text, ReplyLimits& limits) {
  const std::size_t equals = text.find('=');
  std::size_t value = 0;
  std::from_chars(text.data() + equals + 1, text.data() + text.size(), value);
  if (text.starts_with("depth=")) {
    limits.depth = value;
  } else if (text.starts_with("reply_bytes=")) {
    limits.reply_bytes = value;
  } else {
    throw std::runtime_error("unknown limit: " + std::string(text));
  }
}

// Expands `{a}*800` in an expected reply; its escapes are those of Reply::to_string().
std::string expanded(std::string_view text) {
  const bool is_repeating = text.starts_with("\"{");
  return is_repeating ? testing::unescape(text) : std::string(text);
}

Case read_case(const CaseText& text) {
  Case current{.where = text.file + ":" + std::to_string(text.line) + ": " + text.title,
               .bytes = testing::unescape(text.bytes)};
  bool has_section = false;
  for (const CaseText::Line& line : text.lines) {
    const std::string_view rest = line.text;
    if (rest.starts_with("- ")) {
      current.expected.push_back(expanded(rest.substr(2)));
    } else if (rest.starts_with("limits: ")) {
      read_limits(rest.substr(8), current.limits);
    } else if (rest.starts_with("RESP3 ")) {
      has_section = true;
    }
  }
  if (!has_section || current.expected.empty()) throw std::runtime_error(current.where);
  return current;
}

std::string text_of(const redis::Reply& reply) {
  std::string text = reply.to_string();
  if (reply.attributes().empty()) return text;
  text += " | [";
  for (const redis::Reply& one : reply.attributes()) {
    if (&one != reply.attributes().data()) text += ", ";
    text += one.to_string();
  }
  return text + "]";
}

std::string text_of(Error error) {
  return "failed " +
         std::string(error.code() == Errc::MalformedReply ? "MalformedReply" : "MessageTooLong") +
         ": " + std::string(error.context());
}

/// Feeds the bytes in pieces: up to `first`, then `step` bytes at a time. Returns the events.
std::vector<std::string> play(const Case& one, std::size_t first, std::size_t step) {
  ReplyParser parser(one.limits);
  std::vector<std::string> events;
  bool is_over = false;
  const auto feed = [&](const std::string& piece) {
    std::string_view input = piece;
    while (!is_over) {
      const Event event = parser.next(input);
      if (event == Event::NeedMore) {
        EXPECT_TRUE(input.empty()) << one.where;
        return;
      }
      is_over = event == Event::Failed;
      events.push_back(is_over ? text_of(parser.error()) : text_of(parser.take()));
    }
  };
  feed(one.bytes.substr(0, first));
  for (std::size_t at = first; at < one.bytes.size(); at += step) feed(one.bytes.substr(at, step));
  if (!is_over && parser.is_in_reply()) events.emplace_back("more");
  return events;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto folder = std::filesystem::path(testing::source_path("tests/cases/resp"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    for (const CaseText& text : testing::read_case_texts(entry.path())) {
      cases.push_back(read_case(text));
    }
  }
  return cases;
}

TEST(RespCases, ThereAreMany) { EXPECT_GE(all_cases().size(), 60U); }

TEST(RespCases, AllAtOnce) {
  for (const Case& one : all_cases()) {
    EXPECT_EQ(play(one, one.bytes.size(), 1), one.expected) << one.where;
  }
}

TEST(RespCases, ByteByByte) {
  for (const Case& one : all_cases()) EXPECT_EQ(play(one, 0, 1), one.expected) << one.where;
}

TEST(RespCases, AtEverySplitInTwo) {
  for (const Case& one : all_cases()) {
    const std::size_t stride = one.bytes.size() > 2000 ? 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += stride) {
      ASSERT_EQ(play(one, at, one.bytes.size()), one.expected) << one.where << " split at " << at;
    }
  }
}

}  // namespace
}  // namespace skua::resp
