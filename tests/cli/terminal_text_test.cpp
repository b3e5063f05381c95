// SPDX-License-Identifier: MIT
#include "terminal.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace skua::cli {
namespace {

std::string by_bytes(std::string_view text) {
  TerminalText shown;
  std::string out;
  for (const char c : text) shown.append(std::string_view(&c, 1), out);
  shown.finish(out);
  return out;
}

TEST(TerminalText, ShowsTextAndEscapesWhatCommands) {
  constexpr std::string_view cases[][2] = {
      {"plain\ttext\n", "plain\ttext\n"},
      {"\x1b[2J\a\b\x7f", "\\x1b[2J\\x07\\x08\\x7f"},
      {"a\r\nb\rc\r", "a\nb\\x0dc\\x0d"},
      {"\r\r\n", "\\x0d\n"},
      {"\xc2\x9b"
       "1m\xc2\xa0\xc3\xa9",
       "\\x9b1m\xc2\xa0\xc3\xa9"},
      {"\xf0\x9f\x98\x80\xe2\x82\xac", "\xf0\x9f\x98\x80\xe2\x82\xac"},
      {"\xff\x80\xc0\xaf", "\\xff\\x80\\xc0\\xaf"},
      {"\xe0\x80\x80", "\\xe0\\x80\\x80"},  // overlong
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},  // a surrogate
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xe2\x82", "\\xe2\\x82"},
      {"\xe2\x82\x1b", "\\xe2\\x82\\x1b"},
      {"\xe2\xc3\xa9", "\\xe2\xc3\xa9"},
      {"\xf0\x9f\xc2\x9b", "\\xf0\\x9f\\x9b"},
  };
  for (const auto& [text, shown] : cases) {
    EXPECT_EQ(harmless(text), shown);
    EXPECT_EQ(by_bytes(text), shown);
  }
  EXPECT_EQ(harmless(std::string_view("\0", 1)), "\\x00");
}

}  // namespace
}  // namespace skua::cli
