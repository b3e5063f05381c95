// SPDX-License-Identifier: MIT
#include "skua/field_lines.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "http/field.hpp"
#include "http/field_lines_access.hpp"

namespace skua {
namespace {

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

TEST(FieldLines, EveryOctetIsLookedAtWhereverItStands) {
  for (int octet = 0; octet < 256; ++octet) {
    const char c = static_cast<char>(octet);
    for (std::size_t size : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 24U, 31U, 40U}) {
      for (std::size_t place = 0; place < size; ++place) {
        std::string text(size, 'x');
        text[place] = c;
        FieldLines lines;
        const auto is_taken = [&](const std::string& name, const std::string& value) {
          try {
            lines.add(name, value);
          } catch (const std::invalid_argument&) {
            return false;
          }
          return true;
        };
        ASSERT_EQ(is_taken("x", text), ascii::is_field_value(c)) << octet << ' ' << place;
        ASSERT_EQ(is_taken(text, ""), ascii::is_token(c)) << octet << ' ' << place;
      }
    }
  }
}

using Walked = std::vector<std::tuple<http::FieldName, std::string, std::string>>;

Walked walk(const FieldLines& lines) {
  Walked found;
  http::FieldLinesAccess::for_each(
      lines, [&found](http::FieldName known, std::string_view name, std::string_view value) {
        found.emplace_back(known, name, value);
      });
  return found;
}

TEST(FieldLines, AreWalkedAsTheyStandOnTheWire) {
  FieldLines lines;
  EXPECT_TRUE(walk(lines).empty());
  Walked expected;
  std::string wire;
  for (int i = 0; i < 100; ++i) {
    const std::string name = i % 3 == 0 ? "Server" : "X-Field-" + std::to_string(i);
    const std::string value(static_cast<std::size_t>(i % 40), 'v');
    lines.add(name, value);
    expected.emplace_back(i % 3 == 0 ? http::FieldName::Server : http::FieldName::Other, name,
                          value);
    wire += name + ": " + value + "\r\n";
    ASSERT_EQ(walk(lines), expected);
    ASSERT_EQ(lines.wire(), wire);
  }
  FieldLines copy(lines);
  copy.add(copy);
  EXPECT_EQ(walk(copy).size(), 200U);
  EXPECT_EQ(copy.wire(), wire + wire);
  lines.remove("server");
  lines.remove("x-field-1");
  std::erase_if(expected, [](const auto& line) {
    return std::get<0>(line) == http::FieldName::Server || std::get<1>(line) == "X-Field-1";
  });
  EXPECT_EQ(walk(lines), expected);
  const FieldLines moved(std::move(lines));
  EXPECT_EQ(walk(moved), expected);
}

}  // namespace
}  // namespace skua
