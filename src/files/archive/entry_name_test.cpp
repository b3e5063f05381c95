// SPDX-License-Identifier: MIT
#include "files/archive/entry_name.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "files/listing/escape.hpp"

namespace skua::files {
namespace {

TEST(EntryName, HarmlessNamesStay) {
  for (const char* name : {"a.txt", ".env", "-rf", "a b", "100%", "ä", "日本語", "ab:c", "12:30",
                           "..a", "a..", "\U0001F600", "\u200Fab", "con"}) {
    EXPECT_EQ(entry_name(name), name);
  }
}

TEST(EntryName, WhatMeansSomethingElseIsEscaped) {
  const std::pair<std::string, std::string> cases[] = {
      {".", "%2E"},
      {"..", "%2E%2E"},
      {".. ", "%2E%2E%20"},
      {"...", "%2E%2E%2E"},
      {"a\\b", "a%5Cb"},
      {"a/b", "a%2Fb"},
      {"c:x", "c%3Ax"},
      {"C:", "C%3A"},
      {"a\x1b[2J", "a%1B[2J"},
      {"a\nb", "a%0Ab"},
      {"a\x7f", "a%7F"},
      {"a\u009b", "a%C2%9B"},
      {"a\x9b[2J", "a%9B[2J"},
      {"\xff\xfe", "%FF%FE"},
      {"\xc0\xae\xc0\xae", "%C0%AE%C0%AE"},
      {"\xed\xa0\x80", "%ED%A0%80"},
      {"\xc3", "%C3"},
      {"gpj.\u202Eexe", "gpj.%E2%80%AEexe"},
      {"a\u2066", "a%E2%81%A6"},
      {"a\u2028", "a%E2%80%A8"},
      {"\uFEFF", "%EF%BB%BF"},
  };
  for (const auto& [name, expected] : cases) EXPECT_EQ(entry_name(name), expected);
}

TEST(EntryName, LongNamesAreCutBetweenCharacters) {
  const std::string name = entry_name(std::string(255, '\xff'));
  EXPECT_EQ(name.size(), max_entry_name_bytes);
  std::string wide = "a";
  for (int i = 0; i < 100; ++i) wide += "\u20ac\x80";
  const std::string cut = entry_name(wide);
  EXPECT_LE(cut.size(), max_entry_name_bytes);
  for (std::string_view rest = cut; !rest.empty(); rest.remove_prefix(character_size(rest))) {
    ASSERT_NE(character_size(rest), 0U);
  }
}

TEST(EntryName, NoTwoFilesOfAFolderHaveTheSame) {
  std::vector<std::string> names = {"a%FF", "a\xff", "a%FF~1", "b", "b\x80", "b\x81", "b%80"};
  for (char c = '0'; c <= '9'; ++c) names.push_back(std::string(254, '\xff') + c);
  const auto files = name_entries(names);
  ASSERT_EQ(files.size(), names.size());
  EXPECT_TRUE(std::ranges::is_sorted(files, {}, &NamedFile::name));
  std::set<std::string> entries;
  for (const NamedFile& file : files) {
    const std::string& entry = file.entry.empty() ? file.name : file.entry;
    EXPECT_TRUE(entries.insert(entry).second) << entry;
    EXPECT_LE(entry.size(), max_entry_name_bytes);
    if (file.name == "a\xff") {
      EXPECT_EQ(file.entry, "a%FF~2");
    }
  }
}

TEST(EntryName, ManyNamesThatClashTakeLittleTime) {
  std::vector<std::string> names;
  for (int i = 0; i < 20'000; ++i) {
    std::string end = std::to_string(i);
    names.push_back(std::string(200, '\xff') + end);
  }
  const auto files = name_entries(std::move(names));
  std::set<std::string> entries;
  for (const NamedFile& file : files) entries.insert(file.entry);
  EXPECT_EQ(entries.size(), files.size());
}

TEST(EntryName, AnArchiveHasTheNameOfItsFolder) {
  const std::pair<std::string, std::string> cases[] = {
      {"/", "files"},           {"/a/", "a"},           {"/a/b c/", "b c"},   {"/ä/", "ä"},
      {"/.hidden/", "_hidden"}, {"/-rf/", "_rf"},       {"/~/", "_"},         {"/C:/", "C_3A"},
      {"/a\"b/", "a_b"},        {"/$(x)/", "_(x)"},     {"/a;b|c/", "a_b_c"}, {"/a. /", "a._"},
      {"/\xff/", "_FF"},        {"/.../", "_2E_2E_2E"},
  };
  for (const auto& [path, expected] : cases) EXPECT_EQ(archive_name(path), expected) << path;
  EXPECT_EQ(archive_name("/" + std::string(255, 'x') + "/").size(), 200U);
}

}  // namespace
}  // namespace skua::files
