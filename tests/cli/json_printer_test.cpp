// SPDX-License-Identifier: MIT
#include "get/json_printer.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace skua::cli {
namespace {

std::string print(std::string_view text, JsonStyle style = {}, std::size_t step = 0) {
  JsonPrinter printer(style);
  std::string out;
  if (step == 0) step = text.size() + 1;
  for (std::size_t i = 0; i < text.size(); i += step) printer.append(text.substr(i, step), out);
  printer.finish(out);
  return out;
}

TEST(JsonPrinter, EachMemberHasALine) {
  EXPECT_EQ(print(R"({"a":1,"b":[true,null,{"c":"d"}],"e":{},"f":[]})"),
            "{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null,\n    {\n      \"c\": \"d\"\n    }\n"
            "  ],\n  \"e\": {},\n  \"f\": []\n}\n");
  EXPECT_EQ(print(" [ \n] "), "[]\n");
  EXPECT_EQ(print("\t-1.5E+3\n"), "-1.5E+3\n");
  EXPECT_EQ(print("\"x\""), "\"x\"\n");
  EXPECT_EQ(print(""), "");
}

TEST(JsonPrinter, StringsAndNumbersStayWhatTheyAre) {
  constexpr std::string_view text =
      R"([1.0,1e400,-0,12345678901234567890123,"\u00e9\/\ud83d\ude00\t","a  b",")"
      "\xc3\xa9\x7f\xff\xc2\x9b\"]";
  EXPECT_EQ(print(text),
            "[\n  1.0,\n  1e400,\n  -0,\n  12345678901234567890123,\n"
            "  \"\\u00e9\\/\\ud83d\\ude00\\t\",\n  \"a  b\",\n  \"\xc3\xa9\x7f\xff\xc2\x9b\"\n]\n");
}

TEST(JsonPrinter, SeveralValuesFollowEachOther) {
  EXPECT_EQ(print("{\"a\":1}\n{\"a\":2}\n3 4"), "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}\n3\n4\n");
}

TEST(JsonPrinter, WhatIsNoJsonGoesOutAsItCame) {
  EXPECT_EQ(print("<p> a </p>\n"), "<p> a </p>\n");
  EXPECT_EQ(print("  hello  {"), "  hello  {");
  EXPECT_EQ(print("[1,  x, {\"a\" :1}]"), "[\n  1,  x, {\"a\" :1}]");
  EXPECT_EQ(print("{\"a\" 1}  {"), "{\n  \"a\" 1}  {");
  EXPECT_EQ(print("[01]"), "[\n  01]");
  EXPECT_EQ(print("[1,]"), "[\n  1,]");
  EXPECT_EQ(print("[\"a\nb\" , 1]"), "[\n  \"a\nb\" , 1]");
  EXPECT_EQ(print("tru , 1"), "tru , 1");
  EXPECT_EQ(print("[1}  "), "[\n  1}  ");
}

TEST(JsonPrinter, WhatEndsTooEarlyIsPrintedAsFarAsItGoes) {
  EXPECT_EQ(print("[1, 2"), "[\n  1,\n  2\n");
  EXPECT_EQ(print("{\"a\":\"b"), "{\n  \"a\": \"b\n");
}

TEST(JsonPrinter, DepthIsBounded) {
  const std::string deep = std::string(JsonPrinter::deepest, '[') + std::string(2, '[');
  const std::string out = print(deep);
  EXPECT_TRUE(out.ends_with("\n" + std::string(2 * (JsonPrinter::deepest - 1), ' ') + "[[["));
  EXPECT_TRUE(
      is_json(std::string(JsonPrinter::deepest, '[') + std::string(JsonPrinter::deepest, ']')));
  EXPECT_FALSE(is_json(std::string(257, '[') + std::string(257, ']')));
}

TEST(JsonPrinter, TokensHaveColours) {
  EXPECT_EQ(print(R"({"a":"b","c":[1,true]})", {.colours = true}),
            "{\n  \x1b[34m\"a\"\x1b[0m: \x1b[32m\"b\"\x1b[0m,\n  \x1b[34m\"c\"\x1b[0m: [\n    "
            "\x1b[36m1\x1b[0m,\n    \x1b[35mtrue\x1b[0m\n  ]\n}\n");
  EXPECT_EQ(print("[\"a\n\"]", {.colours = true}), "[\n  \x1b[32m\"a\x1b[0m\n\"]");
  EXPECT_EQ(print("[nul", {.colours = true}), "[\n  \x1b[35mnul\x1b[0m\n");
}

TEST(JsonPrinter, ATerminalIsNotCommanded) {
  const JsonStyle style{.for_terminal = true};
  EXPECT_EQ(print("[\"\x7f\xc2\x9b\xff\xe2\x82\xac\"]", style),
            "[\n  \"\\x7f\\x9b\\xff\xe2\x82\xac\"\n]\n");
  EXPECT_EQ(print("[\"\x1b[2J\"]", style), "[\n  \"\\x1b[2J\"]");
  EXPECT_EQ(print("[\"\xe2\"]", style), "[\n  \"\\xe2\"\n]\n");
}

TEST(JsonPrinter, PiecesMakeNoDifference) {
  constexpr std::string_view texts[] = {
      R"( {"a" : [ 1.5e-7 , "\u00e9\n" , {} , [ ] , false ] , "b":null} [2] x)",
      "[\"\xe2\x82\xac\xc2\x9b\", -1, tr", "{\"a\":1,\r\n\"b\":}"};
  for (const std::string_view text : texts) {
    for (const bool colours : {true, false}) {
      const JsonStyle style{.colours = colours, .for_terminal = colours};
      for (std::size_t step = 1; step < 8; ++step) {
        EXPECT_EQ(print(text, style, step), print(text, style)) << text << " by " << step;
      }
    }
  }
}

// For any input, only blanks are lost or added.
TEST(JsonPrinter, OnlyBlanksChange) {
  constexpr std::string_view alphabet = "{}[]:,\"\\u01-+.eE truefalsnx\n\x01\xc3\xa9";
  std::mt19937 random(7);
  const auto without_blanks = [](std::string text) {
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    const std::size_t size = random() % 24;
    while (text.size() < size) text.push_back(alphabet[random() % alphabet.size()]);
    const std::string out = print(text);
    ASSERT_EQ(without_blanks(out), without_blanks(text)) << text;
    if (is_json(text)) {
      ASSERT_EQ(print(out), out);
    }
  }
}

TEST(IsJson, IsStrict) {
  for (const char* good : {"0", "-0.5", "\"\"", "[ ]", " {\"a\":[1]} ", "null", "1e9"}) {
    EXPECT_TRUE(is_json(good)) << good;
  }
  for (const char* bad : {"",
                          " ",
                          "1 2",
                          "01",
                          "1.",
                          ".5",
                          "+1",
                          "-",
                          "1e",
                          "nul",
                          "nulll",
                          "{a:1}",
                          "{\"a\"}",
                          "[1,]",
                          "{\"a\":1,}",
                          "'a'",
                          "\"\\x\"",
                          "\"\\u12g4\"",
                          "\"a",
                          "[",
                          "]",
                          "NaN",
                          "\"\xff\"",
                          "\xef\xbb\xbf"
                          "1"}) {
    EXPECT_FALSE(is_json(bad)) << bad;
  }
}

}  // namespace
}  // namespace skua::cli
