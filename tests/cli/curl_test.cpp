// SPDX-License-Identifier: MIT
// `skua get --curl`: the curl command that does the same.
#include "cli/get_fixture.hpp"
#include "get/curl_text.hpp"

namespace skua::test {
namespace {

using With = Process::With;

TEST(CurlText, WordsAreQuotedForAShell) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "''"},
      {"a-b_1.c/d:e=f,g@h+i%20", "a-b_1.c/d:e=f,g@h+i%20"},
      {"a b", "'a b'"},
      {"it's", "'it'\\''s'"},
      {"$(rm) `x` \"y\" \\ ! #;&|<>*?~", "'$(rm) `x` \"y\" \\ ! #;&|<>*?~'"},
      {"a\nb", "$'a\\012b'"},
      {"\x1b[2J'\\1", "$'\\033[2J\\'\\\\1'"},
      {"\xc3\xa9", "'\xc3\xa9'"},
      {"\xff", "$'\\377'"},
      {"\xc2\x9b", "$'\\302\\233'"},
  };
  for (const auto& [text, word] : cases) EXPECT_EQ(cli::shell_word(text), word);
}

TEST_F(GetFixture, TheCurlCommandSaysTheSame) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"get", "a.test"}, "http://a.test -L --compressed"},
      {{"get", "a.test/?a=1", "q==x y", "X-A:it's", "User-Agent:"},
       "'http://a.test/?a=1&q=x+y' -H 'X-A: it'\\''s' -H User-Agent: -L --compressed"},
      {{"get", "a.test/[1]{2}"}, "http://a.test/%5B1%5D%7B2%7D -L --compressed"},
      {{"head", "a.test", "--no-follow"}, "-I http://a.test --compressed"},
      {{"post", "a.test", "n=Ada", "b:=1"},
       "http://a.test -H 'Content-Type: application/json' --data-raw '{\"n\":\"Ada\",\"b\":1}' -L "
       "--compressed"},
      {{"post", "a.test"}, "-X POST http://a.test -L --compressed"},
      {{"post", "a.test", "-f", "a=b c", "d=e"},
       "http://a.test --data-raw 'a=b+c&d=e' -L --compressed"},
      {{"post", "a.test", "a=@b", "c@b;type=text/css"},
       "http://a.test --form-string a=1 -F 'c=@\"b\";type=text/css' -L --compressed"},
      {{"put", "a.test", "--data", "-"},
       "-X PUT http://a.test -H 'Content-Type: application/octet-stream' --data-binary @- -L "
       "--compressed"},
      {{"request", "BREW", "a.test", "--data", "@b", "--type", "x/y"},
       "-X BREW http://a.test -H 'Content-Type: x/y' --data-binary @b -L --compressed"},
      {{"get", "a.test", "-a", "u:p", "--digest", "--cookie-jar", "jar", "--raw"},
       "http://a.test --anyauth -u u:p -b jar -c jar -L"},
      {{"get", "a.test", "--netrc"}, "http://a.test -n -L --compressed"},
      {{"get", "a.test", "--netrc-file", "logins", "--digest"},
       "http://a.test --anyauth --netrc-file logins -L --compressed"},
      {{"get", "a.test", "--bearer", "tok", "--http2", "--max-redirects", "3"},
       "http://a.test -H 'Authorization: Bearer tok' -L --max-redirs 3 --compressed "
       "--http2-prior-knowledge"},
      {{"get", "a.test", "--http1.1", "--proxy", "p.test:1", "--no-proxy", "b.test", "--unix", "s"},
       "http://a.test -L --compressed --http1.1 -x http://p.test:1 --noproxy b.test --unix-socket "
       "s"},
      {{"get", "a.test", "--resolve", "a.test:80:[::1]", "--resolve", "b.test:*:127.0.0.1"},
       "http://a.test -L --compressed --connect-to 'a.test:80:[::1]:80' --connect-to "
       "b.test::127.0.0.1:"},
      {{"get", "a.test", "-6", "--interface", "eth0", "--proxy", "socks5h://p.test"},
       "http://a.test -L --compressed -x socks5h://p.test -6 --interface eth0"},
      {{"get", "a.test", "--limit-rate", "64K"},
       "http://a.test -L --compressed --limit-rate 65536"},
      {{"get", "a.test", "--timeout", "1.5", "--connect-timeout", "2", "--retry", "3"},
       "http://a.test -L --compressed -m 1.5 --connect-timeout 2 --retry 3"},
      {{"get", "a.test", "-o", "f", "-c", "--fail", "-i", "-v"},
       "http://a.test -L --fail -i -v -C - -o f"},
      {{"get", "-d", "a.test/b", "http://c.test/d"},
       "http://a.test/b http://c.test/d -L --remote-name-all"},
  };
  folder_.write("b", "1");
  folder_.write("logins", "");
  for (auto [words, text] : cases) {
    words.emplace_back("--curl");
    const Ended ended = run(words);
    EXPECT_EQ(ended.output, "curl " + text + "\n");
    EXPECT_EQ(ended.errors, "");
    EXPECT_EQ(ended.code, 0);
  }
}

TEST_F(GetFixture, TheCurlCommandIsNotSent) {
  router_.get("/", [] { return "sent"; });
  start_server();
  const Ended ended = run({"get", url("/"), "--curl", "-o", "file"});
  EXPECT_TRUE(ended.output.starts_with("curl http://127.0.0.1:")) << ended.output;
  EXPECT_FALSE(exists("file"));
  EXPECT_EQ((*server_)->counters().connections_accepted, 0U);
}

}  // namespace
}  // namespace skua::test
