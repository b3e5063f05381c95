// SPDX-License-Identifier: MIT
#include "skua/field_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/message/field.hpp"

namespace skua {
namespace {

static_assert(std::input_iterator<FieldLines::Iterator>);

struct Parsed {
  std::string name;
  std::string value;
};

// Parses the lines from the wire form alone.
std::vector<Parsed> parse(std::string_view wire) {
  std::vector<Parsed> lines;
  while (!wire.empty()) {
    const std::size_t colon = wire.find(": ");
    const std::size_t end = wire.find("\r\n", colon);
    lines.push_back(
        {std::string(wire.substr(0, colon)), std::string(wire.substr(colon + 2, end - colon - 2))});
    wire.remove_prefix(end + 2);
  }
  return lines;
}

// Checks that iteration, find() and known() agree with the wire form.
void expect_true(const FieldLines& lines) {
  const std::vector<Parsed> parsed = parse(lines.wire());
  ASSERT_EQ(lines.size(), parsed.size());
  ASSERT_EQ(std::distance(lines.begin(), lines.end()), std::ssize(parsed));
  EXPECT_EQ(lines.empty(), parsed.empty());
  std::uint64_t known = 0;
  std::size_t i = 0;
  for (const FieldLines::Line line : lines) {
    EXPECT_EQ(line.name, parsed[i].name);
    EXPECT_EQ(line.value, parsed[i].value);
    EXPECT_EQ(line.known, static_cast<unsigned>(http::find_field_name(line.name)));
    if (line.known != 0) known |= std::uint64_t{1} << line.known;
    EXPECT_TRUE(lines.find(line.name).has_value());
    ++i;
  }
  EXPECT_EQ(lines.known(), known);
}

TEST(FieldLines, KeepsLinesAsTheyGoOnTheWire) {
  FieldLines lines;
  EXPECT_TRUE(lines.empty());
  lines.add("A", "1");
  lines.add("Vary", "");
  EXPECT_EQ(lines.wire(), "A: 1\r\nVary: \r\n");
  EXPECT_EQ(lines.find("vary"), "");
  EXPECT_EQ(lines.find("b"), std::nullopt);
}

TEST(FieldLines, ReplacesEveryLineWithTheName) {
  FieldLines lines;
  for (const char* const name : {"A", "B", "a", "C"}) lines.add(name, "x");
  lines.set("A", "y");
  EXPECT_EQ(lines.wire(), "B: x\r\nC: x\r\nA: y\r\n");
  lines.remove("b");
  EXPECT_EQ(lines.wire(), "C: x\r\nA: y\r\n");
}

TEST(FieldLines, RefusesWhatWouldSplitAResponse) {
  FieldLines lines;
  for (const std::string_view value : {"a\r\nb", "a\n", "\r", "a\x01", "\x7f"}) {
    EXPECT_THROW(lines.add("A", value), std::invalid_argument);
    EXPECT_THROW(lines.set("A", value), std::invalid_argument);
  }
  EXPECT_THROW(lines.add("A", std::string_view("a\0b", 3)), std::invalid_argument);
  for (const std::string_view name : {"", "a b", "a:", "a\r\n", "\xc3\xbc", "(a)"}) {
    EXPECT_THROW(lines.add(name, "x"), std::invalid_argument);
  }
  EXPECT_TRUE(lines.empty());
  lines.add("A", "tab\tand \xc3\xbc");
  EXPECT_EQ(lines.find("A"), "tab\tand \xc3\xbc");
}

TEST(FieldLines, GrowsToTheHeapAndMovesFromThere) {
  FieldLines lines;
  std::string expected;
  for (int i = 0; i < 100; ++i) {
    const std::string name = "Field-" + std::to_string(i);
    lines.add(name, "value");
    expected += name + ": value\r\n";
  }
  EXPECT_EQ(lines.wire(), expected);
  FieldLines copy(lines);
  const FieldLines moved(std::move(lines));
  EXPECT_EQ(moved.wire(), expected);
  EXPECT_EQ(copy.wire(), expected);
  FieldLines small;
  small.add("A", "b");
  copy = std::move(small);
  EXPECT_EQ(copy.wire(), "A: b\r\n");
  copy.add("C", "d");
  EXPECT_EQ(copy.wire(), "A: b\r\nC: d\r\n");
}

TEST(FieldLines, MayBeGivenAViewOfItself) {
  FieldLines lines;
  lines.add("A", std::string(60, 'a'));
  for (int i = 0; i < 5; ++i) lines.add("B", *lines.find("A"));
  EXPECT_EQ(lines.find("B"), std::string(60, 'a'));
  lines.set("B", *lines.find("A"));
  lines.set("A", *lines.find("A"));
  EXPECT_EQ(lines.wire(), "B: " + std::string(60, 'a') + "\r\nA: " + std::string(60, 'a') + "\r\n");
}

TEST(FieldLines, RemembersWhichKnownFieldsAreThere) {
  FieldLines lines;
  lines.add("server", "x");
  lines.add("X-Own", "x");
  EXPECT_EQ(lines.known(), std::uint64_t{1} << static_cast<unsigned>(http::FieldName::Server));
  lines.remove("Server");
  EXPECT_EQ(lines.known(), 0U);
}

TEST(FieldLines, FindsEveryLineOfAName) {
  FieldLines lines;
  lines.add("A", "1");
  lines.add("B", "2");
  lines.add("a", "3");
  EXPECT_EQ(lines.find("A", 1), "3");
  EXPECT_EQ(lines.find("A", 2), std::nullopt);
  EXPECT_EQ(lines.find("B", 1), std::nullopt);
}

TEST(FieldLines, AreWalkedAsTheyStandOnTheWire) {
  FieldLines lines;
  expect_true(lines);
  const std::vector<Parsed> added = {{"Vary", "Origin"},
                                     {"a", ""},
                                     {"X-Four", "abcd"},
                                     {"eTAG", std::string(15, 'e')},
                                     {"Link", std::string(33, 'l')},
                                     {"X", " padded \t"},
                                     {"VARY", ": "},
                                     {std::string(100, 'n'), "v"}};
  for (const Parsed& line : added) {
    lines.add(line.name, line.value);
    expect_true(lines);
  }
  ASSERT_EQ(lines.size(), added.size());
  EXPECT_TRUE(std::equal(lines.begin(), lines.end(), added.begin(),
                         [](const FieldLines::Line& line, const Parsed& wanted) {
                           return line.name == wanted.name && line.value == wanted.value;
                         }));
  EXPECT_EQ((*lines.begin()).known, static_cast<unsigned>(http::FieldName::Vary));
}

TEST(FieldLines, StayTrueInTextsOfEveryLength) {
  for (std::size_t name = 1; name < 50; ++name) {
    FieldLines lines;
    std::string expected;
    for (std::size_t value = 0; value < 50; ++value) {
      std::string text(value, 'v');
      for (std::size_t i = 0; i < value; ++i) text[i] = static_cast<char>('a' + i % 26);
      lines.add(std::string(name, 'n'), text);
      expected += std::string(name, 'n') + ": " + text + "\r\n";
    }
    EXPECT_EQ(lines.wire(), expected);
    expect_true(lines);
  }
}

TEST(FieldLines, StayTrueThroughSetAndRemove) {
  FieldLines lines;
  for (int i = 0; i < 100; ++i) {  // more than a word has bits
    lines.add("Field-" + std::to_string(i % 40), std::to_string(i));
    if (i % 10 == 0) lines.add("Set-Cookie", "a=" + std::to_string(i));
  }
  expect_true(lines);
  ASSERT_EQ(lines.size(), 110U);
  lines.set("field-7", "new");  // three lines become one, at the end
  expect_true(lines);
  EXPECT_EQ(lines.size(), 108U);
  EXPECT_EQ(lines.find("Field-7", 1), std::nullopt);
  lines.remove("set-cookie");
  expect_true(lines);
  EXPECT_EQ(lines.size(), 98U);
  for (int i = 0; i < 40; ++i) {
    lines.remove("FIELD-" + std::to_string(i));
    expect_true(lines);
  }
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(lines.begin(), lines.end());
  lines.set("Etag", "after all were gone");
  expect_true(lines);
}

TEST(FieldLines, SetTouchesNoOtherLine) {
  FieldLines lines;
  lines.add("Aaaa-b", "1");
  lines.add("Vary", "2");
  lines.set("Aaaa-c", "3");  // as long as the first
  lines.set("Date", "4");    // as long as the second
  EXPECT_EQ(lines.wire(), "Aaaa-b: 1\r\nVary: 2\r\nAaaa-c: 3\r\nDate: 4\r\n");
  lines.add("x~", "5");
  lines.set("x^", "6");  // differs in the bit of a letter's case
  EXPECT_EQ(lines.size(), 6U);
  lines.remove("x^");
  EXPECT_EQ(lines.find("x~"), "5");
  expect_true(lines);
}

TEST(FieldLines, StayTrueInCopiesAndMoves) {
  FieldLines lines;
  for (int i = 0; i < 100; ++i) {
    const FieldLines copy(lines);
    expect_true(copy);
    EXPECT_EQ(copy.wire(), lines.wire());
    FieldLines moved = copy;
    FieldLines assigned;
    assigned.add("Old", "line");
    assigned = std::move(moved);
    expect_true(assigned);
    EXPECT_EQ(assigned.wire(), lines.wire());
    moved = std::move(assigned);
    assigned.add("Vary", "of a list that was moved from");
    expect_true(assigned);
    EXPECT_EQ(assigned.size(), 1U);
    lines = std::move(moved);
    lines.add("Field-" + std::to_string(i), std::string(static_cast<std::size_t>(i), 'x'));
    expect_true(lines);
  }
}

TEST(FieldLines, AreAppendedToOthersAndToThemselves) {
  for (const std::size_t length : {1U, 20U, 60U, 200U}) {
    FieldLines lines;
    lines.add("Vary", std::string(length, 'v'));
    lines.add("X-Own", "o");
    FieldLines both;
    both.add("ETag", "e");
    both.add(lines);
    expect_true(both);
    EXPECT_EQ(both.wire(), "ETag: e\r\n" + std::string(lines.wire()));
    const std::string once(both.wire());
    both.add(both);
    expect_true(both);
    EXPECT_EQ(both.wire(), once + once);
    both.add(FieldLines());
    EXPECT_EQ(both.size(), 6U);
  }
}

TEST(FieldLines, SetMayBeGivenALineOfItsOwn) {
  FieldLines lines;
  for (const char* const name : {"X-First", "Vary", "X-Last"}) lines.add(name, "0123456789");
  for (int i = 0; i < 20; ++i) {
    const FieldLines::Line line = *lines.begin();
    lines.set(line.name, line.value);
    expect_true(lines);
  }
  EXPECT_EQ(lines.wire(), "X-Last: 0123456789\r\nX-First: 0123456789\r\nVary: 0123456789\r\n");
}

TEST(FieldLines, WhatIsRefusedChangesNothing) {
  for (const std::size_t lines_before : {0U, 1U, 30U}) {
    FieldLines lines;
    for (std::size_t i = 0; i < lines_before; ++i) lines.add("Vary", "Origin");
    const std::string before(lines.wire());
    // Every byte at the start, middle and end of names and values, short and long.
    for (std::size_t size = 1; size < 40; ++size) {
      for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
        std::string text(size, 'a');
        for (const char bad : {'\0', '\r', '\n', '\x1f', '\x7f'}) {
          text[at] = bad;
          EXPECT_THROW(lines.add("Vary", text), std::invalid_argument);
          EXPECT_THROW(lines.set("Vary", text), std::invalid_argument);
          EXPECT_THROW(lines.set("X-Own", text), std::invalid_argument);
          EXPECT_THROW(lines.add(text, "x"), std::invalid_argument);
        }
        for (const char bad : {' ', ':', '(', '/', '@', '[', '{', '\x80', '\xff'}) {
          text[at] = bad;
          EXPECT_THROW(lines.set(text, "x"), std::invalid_argument);
        }
      }
    }
    EXPECT_EQ(lines.wire(), before);
    expect_true(lines);
  }
}

TEST(FieldLines, EveryByteOfANameAndAValueIsJudged) {
  for (const std::size_t size : {1U, 7U, 8U, 15U, 16U, 17U, 40U}) {
    for (unsigned c = 0; c < 256; ++c) {
      std::string text(size, 'a');
      text[size / 2] = static_cast<char>(c);
      const bool is_token =
          std::isalnum(static_cast<int>(c)) != 0 ||
          (c != 0 && std::strchr("!#$%&'*+-.^_`|~", static_cast<int>(c)) != nullptr);
      const bool is_value = c == '\t' || (c >= 0x20 && c != 0x7f);
      FieldLines lines;
      if (is_token) {
        EXPECT_NO_THROW(lines.add(text, "x")) << c;
      } else {
        EXPECT_THROW(lines.add(text, "x"), std::invalid_argument) << c;
      }
      if (is_value) {
        EXPECT_NO_THROW(lines.add("Vary", text)) << c;
      } else {
        EXPECT_THROW(lines.add("Vary", text), std::invalid_argument) << c;
      }
      expect_true(lines);
    }
  }
}

}  // namespace
}  // namespace skua
