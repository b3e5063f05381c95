// SPDX-License-Identifier: MIT
#include "files/listing/escape.hpp"

#include <gtest/gtest.h>

namespace skua::files {
namespace {

std::string html(std::string_view text) {
  std::string out;
  append_html(out, text);
  return out;
}
std::string path(std::string_view text) {
  std::string out;
  append_path(out, text);
  return out;
}
std::string json(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

TEST(Escape, HtmlHasNoMarkupLeft) {
  EXPECT_EQ(html("<script>alert('1')</script>"), "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;");
  EXPECT_EQ(html("\" onload=\"x&`"), "&quot; onload=&quot;x&amp;&#96;");
  EXPECT_EQ(html("a\nb\x7F"), "a\uFFFDb\uFFFD");
  EXPECT_EQ(html(std::string_view("a\0b", 3)), "a\uFFFDb");
}

TEST(Escape, KeepsWellFormedUtf8AndReplacesTheRest) {
  EXPECT_EQ(html("\u00FC\u20AC\U0001F600"), "\u00FC\u20AC\U0001F600");
  EXPECT_EQ(html("\xC0\xAE"), "\uFFFD\uFFFD");            // overlong '.'
  EXPECT_EQ(html("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(html("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(html("\xE2\x82"), "\uFFFD\uFFFD");  // truncated
  EXPECT_EQ(html("\xE2\x82<"), "\uFFFD\uFFFD&lt;");
  EXPECT_EQ(html("\xFF"), "\uFFFD");
}

TEST(Escape, NamesDoNotShowOthers) {
  EXPECT_EQ(html("gpj.\u202Eexe"), "gpj.\uFFFDexe");
  EXPECT_EQ(html("\u2066a\u2069\u009B\uFEFF"), "\uFFFDa\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(html("\u200Fab\u05D0\u0627"), "\u200Fab\u05D0\u0627");
  for (const std::string_view character : {"\u202A", "\u202E", "\u2066", "\u0085", "\u2029"}) {
    EXPECT_TRUE(is_deceptive(character));
  }
  for (const std::string_view character : {"\u00A0", "\u202F", "\u2065", "\u206A", "\U0001F600"}) {
    EXPECT_FALSE(is_deceptive(character));
  }
}

TEST(Escape, PathsKeepOnlyUnreservedCharactersAndSlashes) {
  EXPECT_EQ(path("/a-b._~/C9"), "/a-b._~/C9");
  EXPECT_EQ(path("a b%?#\"<>'\\:\n"), "a%20b%25%3F%23%22%3C%3E%27%5C%3A%0A");
  EXPECT_EQ(path("\u00FC\xFF"), "%C3%BC%FF");
}

TEST(Escape, JsonIsValidAndHarmlessInHtml) {
  EXPECT_EQ(json("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(json("</script>\n"), "\"\\u003C/script\\u003E\\u000A\"");
  EXPECT_EQ(json("\u0080\u009B\u00A0"), "\"\\u0080\\u009B\u00A0\"");
  EXPECT_EQ(json("gpj.\u202Eexe\u2028"), "\"gpj.\\u202Eexe\\u2028\"");
  EXPECT_EQ(json("\xFF\u00FC"), "\"\uFFFD\u00FC\"");
}

}  // namespace
}  // namespace skua::files
