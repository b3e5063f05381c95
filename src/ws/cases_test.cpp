// SPDX-License-Identifier: MIT
// Runs every case of tests/cases/websocket through the reader: whole, byte by byte, and split in
// two at every position.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/case_file.hpp"
#include "support/case_text.hpp"
#include "support/paths.hpp"
#include "ws/deflate.hpp"
#include "ws/message_reader.hpp"

namespace skua::ws {
namespace {

using testing::CaseText;
using Event = MessageReader::Event;

struct Case {
  std::string where{};
  std::string bytes{};
  Role role = Role::Client;  // ours
  std::size_t message_bytes = 65536;
  bool is_deflating = false;
  std::vector<std::string> expected{};
};

// Normalizes an event such as `text "a\x01"`, so that both sides use the same escapes.
std::string normalized(std::string_view event) {
  const std::size_t open = event.find('"');
  if (open == event.npos) return std::string(event);
  if (event.size() < open + 2 || event.back() != '"') throw std::runtime_error("a quote is open");
  const std::string_view quoted = event.substr(open + 1, event.size() - open - 2);
  return std::string(event.substr(0, open)) + '"' + testing::escape(testing::unescape(quoted)) +
         '"';
}

Case read_case(const CaseText& text) {
  Case current{.where = text.file + ":" + std::to_string(text.line) + ": " + text.title,
               .bytes = testing::unescape(text.bytes)};
  constexpr std::string_view limit = "limits: message_bytes=";
  bool has_section = false;
  for (const CaseText::Line& line : text.lines) {
    const std::string_view rest = line.text;
    if (rest.starts_with("- ")) {
      current.expected.push_back(normalized(rest.substr(2)));
    } else if (rest.starts_with(limit)) {
      std::from_chars(rest.data() + limit.size(), rest.data() + rest.size(), current.message_bytes);
    } else if (rest == "from a client") {
      current.role = Role::Server;
    } else if (rest == "with permessage-deflate") {
      current.is_deflating = true;
    } else if (rest.starts_with("RFC ")) {
      has_section = true;
    }
  }
  if (!has_section || current.expected.empty()) throw std::runtime_error(current.where);
  return current;
}

std::string in_quotes(std::string_view text) { return " \"" + testing::escape(text) + '"'; }

std::string text_of(Event event, const MessageReader& reader) {
  const std::string code = std::to_string(static_cast<int>(reader.reason().code));
  switch (event) {
    case Event::NeedMore: return "more";
    case Event::Message:
      return (reader.type() == MessageType::Text ? "text" : "binary") + in_quotes(reader.payload());
    case Event::Ping: return "ping" + in_quotes(reader.payload());
    case Event::Pong: return "pong" + in_quotes(reader.payload());
    case Event::Close: return "close " + code + in_quotes(reader.reason().text);
    case Event::Failed: return "error " + code + " " + reader.reason().text;
  }
  return {};
}

/// Feeds the bytes in pieces: up to `first`, then `step` bytes at a time. Returns the events.
std::vector<std::string> play(const Case& one, std::size_t first, std::size_t step) {
  Inflater inflater(15, true);
  MessageReader reader(one.role, one.message_bytes);
  if (one.is_deflating) reader.use(&inflater);
  std::vector<std::string> events;
  bool is_over = false;
  const auto feed = [&](std::string piece) {
    std::span<char> input(piece);
    while (!is_over) {
      const Event event = reader.next(input);
      if (event == Event::NeedMore) {
        EXPECT_TRUE(input.empty()) << one.where;
        return;
      }
      events.push_back(text_of(event, reader));
      is_over = event == Event::Failed;
    }
  };
  feed(one.bytes.substr(0, first));
  for (std::size_t at = first; at < one.bytes.size(); at += step) {
    feed(one.bytes.substr(at, step));
  }
  if (reader.is_in_message()) events.emplace_back("more");
  return events;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto folder = std::filesystem::path(testing::source_path("tests/cases/websocket"));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    for (const CaseText& text : testing::read_case_texts(entry.path())) {
      Case one = read_case(text);
      if (!one.is_deflating || is_deflate_available()) cases.push_back(std::move(one));
    }
  }
  return cases;
}

TEST(WebSocketCases, ThereAreMany) { EXPECT_GE(all_cases().size(), 70U); }

TEST(WebSocketCases, AllAtOnce) {
  for (const Case& one : all_cases()) {
    EXPECT_EQ(play(one, one.bytes.size(), 1), one.expected) << one.where;
  }
}

TEST(WebSocketCases, ByteByByte) {
  for (const Case& one : all_cases()) EXPECT_EQ(play(one, 0, 1), one.expected) << one.where;
}

TEST(WebSocketCases, AtEverySplitInTwo) {
  for (const Case& one : all_cases()) {
    const std::size_t stride = one.bytes.size() > 2000 ? 97 : 1;
    for (std::size_t at = 1; at < one.bytes.size(); at += stride) {
      ASSERT_EQ(play(one, at, one.bytes.size()), one.expected) << one.where << " split at " << at;
    }
  }
}

}  // namespace
}  // namespace skua::ws
