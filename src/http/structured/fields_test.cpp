// SPDX-License-Identifier: MIT
// Reads every case of tests/cases/structured_fields, writes it, and reads it again.
#include "skua/structured_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/case_file.hpp"
#include "support/case_text.hpp"
#include "support/paths.hpp"

namespace skua::structured {
namespace {

struct FieldCase {
  std::string where{};
  std::string value{};
  std::string kind{};      ///< `item`, `list`, `dictionary`
  std::string expected{};  ///< as it is written, or `malformed`
};

// A malformed value is of the kind of its file.
FieldCase read_case(const testing::CaseText& text, const std::string& kind) {
  FieldCase read{.where = text.file + ":" + std::to_string(text.line) + ": " + text.title,
                 .value = testing::unescape(text.bytes),
                 .kind = kind};
  bool has_section = false;
  for (const testing::CaseText::Line& line : text.lines) {
    const std::string_view rest = line.text;
    if (rest.starts_with("RFC 9651 ")) has_section = true;
    if (!rest.starts_with("- ")) continue;
    read.expected = rest.substr(2);
    if (read.expected.starts_with(kind)) {
      read.expected.erase(0, std::min(kind.size() + 1, read.expected.size()));
    } else if (read.expected != "malformed") {
      throw std::runtime_error(read.where);
    }
  }
  if (!has_section) throw std::runtime_error(read.where);
  return read;
}

std::vector<FieldCase> all_cases() {
  std::vector<FieldCase> cases;
  const std::filesystem::path folder = testing::source_path("tests/cases/structured_fields");
  for (const char* const kind : {"item", "list", "dictionary"}) {
    const std::string name =
        kind == std::string_view("dictionary") ? "dictionaries.md" : std::string(kind) + "s.md";
    for (const testing::CaseText& text : testing::read_case_texts(folder / name)) {
      cases.push_back(read_case(text, kind));
    }
  }
  return cases;
}

template <class T>
std::string written(const std::optional<T>& read) {
  return read ? to_text(*read).value_or("cannot be written") : "malformed";
}
std::string written(const std::string& kind, std::string_view value) {
  if (kind == "item") return written(parse_item(value));
  return kind == "list" ? written(parse_list(value)) : written(parse_dictionary(value));
}

TEST(StructuredFieldCases, AreReadAndWritten) {
  const std::vector<FieldCase> cases = all_cases();
  EXPECT_GE(cases.size(), 60U);
  for (const FieldCase& one : cases) {
    EXPECT_EQ(written(one.kind, one.value), one.expected) << one.where;
    if (one.expected == "malformed" || one.expected.empty()) continue;
    EXPECT_EQ(written(one.kind, one.expected), one.expected) << one.where;
  }
}

TEST(StructuredFields, AnyBytesAreReadOrRefused) {
  std::uint32_t state = 1;
  const auto draw = [&state] { return state = state * 1'664'525U + 1'013'904'223U; };
  constexpr std::string_view letters = "a1*;=,()\"\\:@%?- .A\t/u";
  for (int round = 0; round < 20'000; ++round) {
    std::string value;
    for (std::uint32_t size = draw() >> 28U; size != 0; --size) {
      value.push_back(letters[(draw() >> 16U) % letters.size()]);
    }
    for (const std::string kind : {"item", "list", "dictionary"}) {
      const std::string once = written(kind, value);
      EXPECT_EQ(once == "malformed" ? once : written(kind, once), once) << value;
    }
  }
}

TEST(StructuredFields, ValuesKeepTheirTypes) {
  const std::optional<List> list = parse_list("1, 1.5, \"a\", a, :YQ:, ?1, @7, %\"%c3%bc\", (x);y");
  ASSERT_TRUE(list);
  const List expected = {
      Item{std::int64_t{1}},
      Item{Decimal{1500}},
      Item{std::string("a")},
      Item{Token{"a"}},
      Item{std::vector<std::byte>{std::byte{'a'}}},
      Item{true},
      Item{Date{7}},
      Item{DisplayString{"\xc3\xbc"}},
      InnerList{.items = {Item{Token{"x"}}}, .parameters = {{.key = "y"}}},
  };
  EXPECT_EQ(*list, expected);
}

TEST(StructuredFields, WhatCannotBeWrittenIsRefused) {
  const Value wrong[] = {std::int64_t{1'000'000'000'000'000},
                         std::int64_t{-1'000'000'000'000'000},
                         Decimal{INT64_MIN},
                         std::string("a\n"),
                         Token{""},
                         Token{"1a"},
                         Token{"a b"},
                         DisplayString{"\xff"}};
  for (const Value& value : wrong) {
    EXPECT_EQ(to_text(Item{value}), std::nullopt) << value.index();
    EXPECT_EQ(to_text(Item{true, {{"a", value}}}), std::nullopt) << value.index();
  }
  for (const char* const key : {"", "A", "1", "a b"}) {
    EXPECT_EQ(to_text(Dictionary{{.key = key, .member = Item{true}}}), std::nullopt) << key;
  }
}

}  // namespace
}  // namespace skua::structured
