// SPDX-License-Identifier: MIT
#include "settings/settings_file.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace skua::cli {
namespace {

using Values = std::vector<std::string>;

std::vector<Setting> parse(std::string_view text) {
  auto settings = parse_settings(text, "f.toml");
  if (settings) return *std::move(settings);
  ADD_FAILURE() << settings.error().text;
  return {};
}

std::string flaw_of(std::string_view text) {
  const auto settings = parse_settings(text, "f.toml");
  return settings ? "it was taken" : settings.error().text;
}

class SettingsFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_settings_files()) GTEST_SKIP() << "this build has no toml++";
  }
};

TEST_F(SettingsFileTest, ValuesAreWordsOfTheCommandLine) {
  const auto settings =
      parse("port = 8080\nhex = 0x1F\nname = 'a \"b\"'\nyes = true\nno = false\n");
  ASSERT_EQ(settings.size(), 5U);
  EXPECT_EQ(settings[0].key, "port");
  EXPECT_EQ(settings[0].values, Values{"8080"});
  EXPECT_EQ(settings[1].values, Values{"31"});
  EXPECT_EQ(settings[2].values, Values{"a \"b\""});
  EXPECT_FALSE(settings[2].is_flag || settings[2].is_array);
  EXPECT_EQ(settings[3].values, Values{"true"});
  EXPECT_EQ(settings[4].values, Values{});
  EXPECT_TRUE(settings[3].is_flag && settings[4].is_flag);
}

TEST_F(SettingsFileTest, ArraysHaveSeveralValues) {
  const auto settings = parse("empty = []\nmixed = [\n  'a', # first\n  2,\n]\n");
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].values, Values{});
  EXPECT_EQ(settings[1].values, (Values{"a", "2"}));
  EXPECT_TRUE(settings[0].is_array && settings[1].is_array);
}

TEST_F(SettingsFileTest, SettingsAreInTheOrderOfTheFileWithTheirPlaces) {
  const auto settings = parse("z = 1\n\n  a = 2\n");
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].key, "z");
  EXPECT_EQ(settings[1].key_place.line, 3U);
  EXPECT_EQ(settings[1].key_place.column, 3U);
  EXPECT_EQ(settings[1].value_place.column, 7U);
}

TEST_F(SettingsFileTest, SaysWhereAFileIsMalformed) {
  EXPECT_TRUE(flaw_of("port = 80\nhost 127\n").starts_with("f.toml:2:6: ")) << flaw_of("host 127");
  EXPECT_TRUE(flaw_of("a = 1\na = 2\n").starts_with("f.toml:2:"));
  EXPECT_TRUE(flaw_of("a = '").starts_with("f.toml:1:6: ")) << flaw_of("a = '");
  EXPECT_TRUE(flaw_of("a = \"\xff\"").starts_with("f.toml:1:")) << flaw_of("a = \"\xff\"");
  EXPECT_TRUE(flaw_of("a = " + std::string(10'000, '[')).starts_with("f.toml:1:"));
}

TEST_F(SettingsFileTest, RefusesWhatNoOptionHas) {
  const std::string why = " is not a text, a whole number, true or false, or an array of texts";
  EXPECT_EQ(flaw_of("a = 1.5"), "f.toml:1:5: a" + why);
  EXPECT_EQ(flaw_of("a = 2026-01-01"), "f.toml:1:5: a" + why);
  EXPECT_EQ(flaw_of("a = ['b', ['c']]"), "f.toml:1:5: a" + why);
  EXPECT_EQ(flaw_of("a = [true]"), "f.toml:1:5: a" + why);
  EXPECT_EQ(flaw_of("b = 1\n[a]\nc = 1"), "f.toml:2:1: a" + why);
  EXPECT_EQ(flaw_of("a.b = 1"), "f.toml:1:1: a" + why);
}

TEST(FormatSetting, WritesNumbersOnlyIfTheyAreReadBackTheSame) {
  const auto line = [](const std::string& value) {
    return format_setting({.key = "k", .values = {value}});
  };
  EXPECT_EQ(line("-12"), "k = -12");
  EXPECT_EQ(line("012"), "k = \"012\"");
  EXPECT_EQ(line("+1"), "k = \"+1\"");
  EXPECT_EQ(line("99999999999999999999"), "k = \"99999999999999999999\"");
  EXPECT_EQ(line(""), "k = \"\"");
  EXPECT_EQ(line("true"), "k = \"true\"");
}

TEST_F(SettingsFileTest, ReadsWhatIsWritten) {
  const Setting list{
      .key = "list", .values = {"a\"b\\c\n\x01\x7F\t", "7", "\xC3\xA9"}, .is_array = true};
  const Setting flag{.key = "flag", .values = {"true"}, .is_flag = true};
  const auto settings = parse(format_setting(list) + "\n" + format_setting(flag));
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].values, list.values);
  EXPECT_TRUE(settings[0].is_array);
  EXPECT_TRUE(settings[1].is_flag);
  EXPECT_EQ(settings[1].values, flag.values);
}

}  // namespace
}  // namespace skua::cli
