// SPDX-License-Identifier: MIT
// International host names of URLs on the command line.
#include "international_host.hpp"

#include <string>
#include <utility>

#include "cli/get_fixture.hpp"

namespace skua::test {
namespace {

using cli::has_international_hosts;
using cli::with_ascii_host;

std::string converted(std::string_view url) {
  const auto result = with_ascii_host(url);
  return result ? *result : result.error().text;
}

TEST(InternationalHost, AsciiUrlsStayAsTheyAre) {
  for (const char* const url :
       {"http://example.com/", "http://EXAMPLE.com:80",
        "http://u:p\u00e4ss@a.test/\u00fc?\u00fc#\u00fc", "http://[::1]/\u00fc", "b\u00fccher", "",
        "://", "http://", "http://xn--bcher-kva.example"}) {
    EXPECT_EQ(converted(url), url);
  }
}

TEST(InternationalHost, OnlyTheHostIsConverted) {
  if (!has_international_hosts()) GTEST_SKIP() << "this build has no libidn2";
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"http://b\u00fccher.example/\u00fc", "http://xn--bcher-kva.example/\u00fc"},
      {"http://B\u00dcCHER.example", "http://xn--bcher-kva.example"},
      {"ws://\u00e4:\u00f6@fa\u00df.test:80?\u00fc",
       "ws://\u00e4:\u00f6@xn--fa-hia.test:80?\u00fc"},
      {"http://a\u3002b\u00fc", "http://a.xn--b-eha"},
      {"http://\u0645\u062b\u0627\u0644.\u0625\u062e\u062a\u0628\u0627\u0631",
       "http://xn--mgbh0fb.xn--kgbechtv"}};
  for (const auto& [url, ascii] : cases) EXPECT_EQ(converted(url), ascii);
}

TEST(InternationalHost, NamesThatCannotBeAreRefusedWithAReason) {
  if (!has_international_hosts()) GTEST_SKIP() << "this build has no libidn2";
  std::string longest = "http://";
  for (int i = 0; i < 80; ++i) longest += "\u00fc";
  for (const std::string& url : {std::string("http://\u2603.net"), longest,
                                 std::string("http://\xff"), std::string("http://-\u00fc-.a")}) {
    EXPECT_TRUE(converted(url).starts_with("the host name cannot be international: ")) << url;
  }
  EXPECT_EQ(converted(std::string("http://\u00fc\0a", 11)), "the host name contains a NUL");
}

// Each of them becomes ASCII that would end the host, so that another one would be asked.
TEST(InternationalHost, CharactersThatStandForOthersDoNotEndTheHost) {
  if (!has_international_hosts()) GTEST_SKIP() << "this build has no libidn2";
  for (const char* const url :
       {"http://a.test\uff0fb.test", "http://a.test\u2100.b.test", "http://a.test\uff1a80",
        "http://a.test\uff1fb.test", "http://a.test\uff03b.test", "http://a\uff20b.test",
        "http://a.test\uff3cb.test", "http://a.test\u2488b\u00fc.test"}) {
    const std::string text = converted(url);
    EXPECT_TRUE(text.starts_with("the host name ")) << url << " became " << text;
  }
}

TEST_F(GetFixture, InternationalHostsAreConvertedOrExplained) {
  const Ended curl = run({"get", "http://m\u00fcll.example/", "--curl"});
  const Ended get = run({"get", "http://m\u00fcll.invalid/"});
  const Ended ws = run({"ws", "ws://m\u00fcll.invalid/"});
  if (!has_international_hosts()) {
    EXPECT_TRUE(contains(curl.errors, "in ASCII form (xn--...)"));
    EXPECT_EQ(curl.code, 2);
    EXPECT_TRUE(contains(ws.errors, "in ASCII form (xn--...)"));
    return;
  }
  EXPECT_EQ(curl.output, "curl http://xn--mll-hoa.example/ -L --compressed\n");
  EXPECT_TRUE(get.errors.starts_with("skua: could not resolve xn--mll-hoa.invalid: "))
      << get.errors;
  EXPECT_EQ(get.code, 6);
  EXPECT_TRUE(contains(ws.errors, "xn--mll-hoa.invalid"));
  const Ended wrong = run({"get", "http://\u2603.net/"});
  EXPECT_TRUE(contains(wrong.errors, "is not a URL: the host name cannot be international: "));
  EXPECT_EQ(wrong.code, 2);
}

}  // namespace
}  // namespace skua::test
