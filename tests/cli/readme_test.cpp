// SPDX-License-Identifier: MIT
// READMEs as HTML: that what they mean is shown, and that nothing in them can do harm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/readme/readme.hpp"
#include "serve/readme/safe_html.hpp"

namespace skua::cli {
namespace {

std::string repeat(std::string_view text, std::size_t size) {
  std::string all;
  while (all.size() < size) all += text;
  return all;
}

class MarkdownTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_markdown()) GTEST_SKIP() << "this build has no md4c";
  }
  static std::string html(std::string_view text) { return readme_html("README.md", text); }
};

TEST_F(MarkdownTest, ShowsWhatItMeans) {
  const std::pair<const char*, const char*> cases[] = {
      {"# A *b*", "<h1 id=\"a-b\">A <em>b</em></h1>\n"},
      {"## What's new?\n## What's new?",
       "<h2 id=\"whats-new\">What&#39;s new?</h2>\n<h2 id=\"whats-new-1\">What&#39;s new?</h2>\n"},
      {"a **b** `c` ~~d~~\ne  \nf",
       "<p>a <strong>b</strong> <code>c</code> <del>d</del>\ne<br>\nf</p>\n"},
      {"- a\n- [x] b", "<ul>\n<li>a</li>\n<li>\u2611 b</li>\n</ul>\n"},
      {"3. a", "<ol start=\"3\">\n<li>a</li>\n</ol>\n"},
      {"> a", "<blockquote>\n<p>a</p>\n</blockquote>\n"},
      {"```cpp\na<b>\n\tc\n```", "<pre><code>a&lt;b&gt;\n    c\n</code></pre>\n"},
      {"---", "<hr>\n"},
      {"|a|b|\n|---|---|\n|c|d|",
       "<table>\n<thead>\n<tr><th>a</th><th>b</th></tr>\n</thead>\n<tbody>\n"
       "<tr><td>c</td><td>d</td></tr>\n</tbody>\n</table>\n"},
      {"[a](docs/b%20c.md \"t\")", "<p><a href=\"docs/b%20c.md\" title=\"t\">a</a></p>\n"},
      {"[a](#b)", "<p><a href=\"#b\">a</a></p>\n"},
      {"[a](?q=1&r=2)", "<p><a href=\"?q=1&amp;r=2\">a</a></p>\n"},
      {"https://a.example/b",
       "<p><a href=\"https://a.example/b\" rel=\"nofollow noopener noreferrer\">"
       "https://a.example/b</a></p>\n"},
      {"<me@a.example>",
       "<p><a href=\"mailto:me@a.example\" rel=\"nofollow noopener noreferrer\">"
       "me@a.example</a></p>\n"},
      {"![a *b*](img/\u00fc.png)",
       "<p><img loading=\"lazy\" src=\"img/%C3%BC.png\" alt=\"a b\"></p>\n"},
      {"[![a](b.png)](c)",
       "<p><a href=\"c\"><img loading=\"lazy\" src=\"b.png\" alt=\"a\"></a></p>\n"},
      {"&copy; &#65; \u00fc", "<p>&copy; &#65; \u00fc</p>\n"},
      {"\xEF\xBB\xBF# a", "<h1 id=\"a\">a</h1>\n"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(html(text), expected) << text;
}

TEST_F(MarkdownTest, ImagesOfOtherSitesAreTheirText) {
  for (const char* url : {"https://a.example/b.png", "//a.example/b.png", "http:b.png"}) {
    EXPECT_EQ(html("![a *b*](" + std::string(url) + ")"), "<p>a <em>b</em></p>\n") << url;
  }
}

// Reports whether HTML has only the tags and attributes that it may have.
bool is_harmless(const std::string& html, std::string& why) {
  constexpr std::string_view tags[] = {"h1",  "h2",    "h3",         "h4", "h5",    "h6",    "p",
                                       "a",   "em",    "strong",     "ul", "ol",    "li",    "pre",
                                       "del", "code",  "br",         "hr", "table", "thead", "tr",
                                       "img", "tbody", "blockquote", "th", "td"};
  constexpr std::string_view attributes[] = {"href=\"", "src=\"",   "alt=\"", "title=\"",
                                             "rel=\"",  "start=\"", "id=\"",  "loading=\""};
  for (std::size_t at = html.find('<'); at != html.npos; at = html.find('<', at)) {
    const std::size_t end = html.find_first_of(" >", ++at);
    std::string tag = html.substr(at, end - at);
    if (tag.starts_with('/')) tag.erase(0, 1);
    why = "the tag " + tag;
    if (std::find(std::begin(tags), std::end(tags), tag) == std::end(tags)) return false;
    for (at = end; at < html.size() && html[at] == ' ';) {
      const std::size_t value = html.find('"', ++at) + 1;
      const std::string name = html.substr(at, value - at);
      why = "the attribute " + name;
      if (std::find(std::begin(attributes), std::end(attributes), name) == std::end(attributes)) {
        return false;
      }
      at = html.find('"', value) + 1;
      const std::string content = html.substr(value, at - 1 - value);
      why = "the value " + content;
      if (content.find_first_of("<>") != content.npos) return false;
      const bool is_url = name == "href=\"" || name == "src=\"";
      const std::size_t mark = content.find_first_of(":/?#&");
      if (!is_url || mark == content.npos || content[mark] != ':') continue;
      const std::string scheme = content.substr(0, mark);
      if (scheme != "http" && scheme != "https" && scheme != "mailto" && scheme != "HTTPS") {
        return false;
      }
    }
    why = "an open tag";
    if (at >= html.size() || html[at] != '>') return false;
  }
  return true;
}

const std::vector<std::string> hostile_texts = {
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "a <b onclick=alert(1)>b</b> <svg/onload=alert(1)>",
    "<!-- --><script>alert(1)</script>",
    "<div>\n\n<script>alert(1)</script>\n\n</div>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<style>*{display:none}</style>",
    "<base href=//evil.example><meta http-equiv=refresh content=0>",
    "</article></main><script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](<java\tscript:alert(1)>)",
    "[a](<java&Tab;script:alert(1)>)",
    "[a](java&NewLine;script:alert(1))",
    "[a](javascript&colon;alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](&#x6A;&#x61;vascript&#58;alert(1))",
    "[a](&#0000106avascript:alert(1))",
    "[a](<\x01javascript:alert(1)>)",
    "[a](<  javascript:alert(1)>)",
    "[a](\\javascript:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:msgbox(1))",
    "[a](file:///etc/passwd)",
    "[a](blob:https://a/b)",
    "[a](view-source:javascript:alert(1))",
    "[a][1]\n\n[1]: javascript:alert(1) \"t\"",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "![a](javascript:alert(1))",
    "![a](data:image/svg+xml;base64,PHN2Zz4=)",
    "![a\" onerror=\"alert(1)](b.png)",
    "![a](b.png\" onerror=\"alert(1))",
    "![a](b.png 'c\" onerror=\"alert(1)')",
    "![<img src=x onerror=alert(1)>](b.png)",
    "![a ![b](javascript:alert(1)) [c](javascript:alert(1))](d.png)",
    "[a](b \"c\\\" onclick=\\\"alert(1)\")",
    "[a](b '\"><script>alert(1)</script>')",
    "[a](<b\"onclick=alert(1)>)",
    "[a](b'onclick=alert(1))",
    "`<script>alert(1)</script>`",
    "```\" onclick=\"alert(1)\n</code></pre><script>alert(1)</script>\n```",
    "    </code></pre><script>alert(1)</script>",
    "# <script>alert(1)</script> \" onclick=\"alert(1)",
    "# uploads\n# forms",
    "|<script>|\"onclick=\"|\n|---|---|\n|</table><script>|x|",
    "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;",
    "&<script>; &#x3c;script&#x3e;",
    "\xC0\xBCscript\xC0\xBE \xE0\x80\xBC \xFF\xFE \xED\xA0\x80",
    "\xF0\x9D[a](java\xC2\xADscript:alert(1))",
    "1. <script>\n2. </script>",
    "> <script>\n>> </script>",
    "HTTPS://a.example/\"onclick=alert(1)",
    "www.a.example/<script>",
    "a@b.example\"onclick=alert(1)",
    "[a](//evil.example/\\..)",
    "[\u202Egpj.exe](a)",
    "\x1b]0;title\x07\x1b[2J",
    "~~<script>~~ **<script>** *<script>*",
    "- [x](javascript:alert(1)) <script>",
    "[a]( javascript:alert(1) )",
    "[a]:<javascript:alert(1)>\n[a]",
    std::string("[a](java\0script:alert(1)) <\0script>", 36),
};

TEST_F(MarkdownTest, HostileTextIsHarmless) {
  std::vector<std::string> corpus = hostile_texts;
  for (const char* const pattern :
       {"[", "[a](", "![", "> ", "- ", "*a ", "_a", "`", "<", "&#", "a|", "~~a", "[^", "<a ",
        "<!--", "www.", "a@", "a\n=\n", "* a\n  "}) {
    corpus.push_back(repeat(pattern, 4000));
  }
  ASSERT_GE(corpus.size(), 80U);
  for (const std::string& text : corpus) {
    const std::string page = html(text);
    std::string why;
    EXPECT_TRUE(is_harmless(page, why)) << text.substr(0, 100) << "\n" << page << "\n" << why;
    for (const char c : page) {
      if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') continue;
      ADD_FAILURE() << "a control character of " << text;
      break;
    }
  }
}

TEST_F(MarkdownTest, TextsMadeToGrowGiveBoundedPages) {
  constexpr std::size_t most = 64 * 1024;
  std::string backticks;
  for (std::size_t i = 1; backticks.size() < most; ++i) backticks.append(i, '`').append(1, ' ');
  std::string table = repeat("x|", 200) + "\n" + repeat("---|", 400) + "\n";
  table += repeat("a\n", most - table.size());
  const std::vector<std::string> corpus = {
      std::move(backticks),      std::move(table),         repeat("[", most),
      repeat("[a](", most),      repeat("*a_ ", most),     repeat("[a]: u\n[a] ", most),
      repeat("<a ", most),       repeat("![[", most),      repeat("[a](<b \"", most),
      repeat("> > > a\n", most), repeat("a**b*c* ", most), repeat("# a\n", most),
      repeat("&a;", most),       repeat("a@a.a ", most)};
  for (const std::string& text : corpus) EXPECT_LE(html(text).size(), 24 * most);
}

TEST(Readme, PlainTextIsEscaped) {
  EXPECT_EQ(readme_html("README.txt", "a <b>\n\t*c* & \x1b"),
            "<pre>\na &lt;b&gt;\n\t*c* &amp; \uFFFD</pre>\n");
  EXPECT_EQ(readme_html("readme", "\n"), "<pre>\n\n</pre>\n");
  if (!has_markdown()) {
    EXPECT_EQ(readme_html("README.md", "*a*"), "<pre>\n*a*</pre>\n");
  }
}

TEST(SafeUrl, IsRelativeOrOfAKnownScheme) {
  Reference leads{};
  const auto url = [&](std::string_view text) { return safe_url(text, leads).value_or("refused"); };
  EXPECT_EQ(url("a/b.md?c#d"), "a/b.md?c#d");
  EXPECT_EQ(leads, Reference::Here);
  EXPECT_EQ(url("/a"), "/a");
  EXPECT_EQ(leads, Reference::Here);
  EXPECT_EQ(url("//a"), "//a");
  EXPECT_EQ(leads, Reference::Elsewhere);
  EXPECT_EQ(url("\\\\a"), "%5C%5Ca");
  EXPECT_EQ(url("HTTP://a"), "HTTP://a");
  EXPECT_EQ(leads, Reference::Elsewhere);
  EXPECT_EQ(url(""), "");
  EXPECT_EQ(url("a b\n\"'"), "a%20b%0A%22&#39;");
  for (const char* refused : {"javascript:a", ":", "a:b", "C:\\a", "ftp://a", "http\t:a"}) {
    EXPECT_EQ(url(refused), "refused") << refused;
  }
}

TEST(Entities, AreDecoded) {
  const auto decode = [](std::string_view text) {
    std::string out;
    append_decoded(out, text);
    return out;
  };
  EXPECT_EQ(decode("&amp;"), "&");
  EXPECT_EQ(decode("&#65;"), "A");
  EXPECT_EQ(decode("&#xE9;"), "\u00e9");
  EXPECT_EQ(decode("&#X20AC;"), "\u20ac");
  EXPECT_EQ(decode("&#x1F600;"), "\U0001F600");
  for (const char* none : {"&#0;", "&#xD800;", "&#x110000;", "&#99999999999;", "&#;", "&#xg;"}) {
    EXPECT_EQ(decode(none), "\uFFFD") << none;
  }
  EXPECT_EQ(decode("&colon;"), "&colon;");
}

}  // namespace
}  // namespace skua::cli
