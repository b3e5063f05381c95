// SPDX-License-Identifier: MIT
// Suggestions for unknown options and commands.
#include "suggestion.hpp"

#include "cli/get_fixture.hpp"

namespace skua::test {
namespace {

TEST(Nearest, IsTheWordWithTheFewestMistakes) {
  const std::vector<std::string> known{"--follow", "--fail", "--form", "get", "bench", "put"};
  const auto meant = [&known](std::string_view word) { return cli::nearest(word, known); };
  EXPECT_EQ(meant("--folow"), "--follow");    // a letter missing
  EXPECT_EQ(meant("--folloow"), "--follow");  // an extra letter
  EXPECT_EQ(meant("--fallow"), "--follow");   // a wrong letter
  EXPECT_EQ(meant("--ofllow"), "--follow");   // two letters swapped
  EXPECT_EQ(meant("--fial"), "--fail");
  EXPECT_EQ(meant("gte"), "get");
  EXPECT_EQ(meant("bnech"), "bench");
}

TEST(Nearest, IsNoneWhereNoneIsNear) {
  const std::vector<std::string> known{"--follow", "get", "x"};
  for (const std::string& word : {std::string("--unfollow-all"), std::string("xyz"), std::string(),
                                  std::string("--"), std::string("y"), std::string(100'000, 'x')}) {
    EXPECT_EQ(cli::nearest(word, known), "") << word.substr(0, 20);
  }
  EXPECT_EQ(cli::nearest("get", {}), "");
}

class SuggestionTest : public GetFixture {};

TEST_F(SuggestionTest, IsGivenForOptionsAndCommands) {
  const Ended option = run({"get", "--insecrue=yes", "http://127.0.0.1:1/"});
  EXPECT_EQ(option.code, 2);
  EXPECT_TRUE(contains(option.errors, "--insecrue"));
  EXPECT_TRUE(contains(option.errors, "\nDid you mean --insecure?\nTry `skua "));
  const Ended command = run({"sevre", "."});
  EXPECT_EQ(command.code, 2);
  EXPECT_TRUE(contains(command.errors, "\nDid you mean serve?\n"));
  const Ended strange = run({"get", "--zzzzzz", "http://127.0.0.1:1/"});
  EXPECT_EQ(strange.code, 2);
  EXPECT_FALSE(contains(strange.errors, "Did you mean")) << strange.errors;
}

// A first line as other tools have it is answered with the option that does the same.
TEST_F(SuggestionTest, OptionsOfOtherToolsHaveOursNamed) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"serve", "8000"}, "skua serve --port 8000"},
      {{"serve", ".", "8000"}, "Use --port 8000."},
      {{"serve", "--bind", "0.0.0.0"}, "Use --host ADDRESS"},
      {{"serve", "--bind=0.0.0.0"}, "Use --host ADDRESS"},
      {{"serve", "-b", "0.0.0.0", "."}, "Use --host ADDRESS"},
      {{"serve", "--https"}, "Use --tls-self-signed"},
      {{"serve", "--directory", "x", "y"}, "skua serve DIR"},
      {{"serve", ".", "--no-such", "5"}, "unknown option --no-such\n"},
      {{"serve", "-S"}, "Use --tls-self-signed"},
      {{"bench", "--concurrency", "5", "localhost:1"}, "Use -c COUNT"},
      {{"bench", "-z", "10s", "localhost:1"}, "Use -d SECONDS"},
      {{"bench", "-d", "10x", "localhost:1"}, "'10x' is not a number"},
      {{"get", "-L", "localhost:1"}, "Redirects are followed by default."},
      {{"get", "--location", "localhost:1"}, "Redirects are followed by default."},
      {{"ws", "--execute", "x", "localhost:1"}, "Use -m TEXT"},
      {{"get", "--session-read-only=x", "--session", "a", "localhost:1"}, "takes no value"},
  };
  for (const auto& [words, advice] : cases) {
    const Ended ended = run(words);
    std::string shown;
    for (const std::string& word : words) shown += word + " ";
    EXPECT_NE(ended.code, 0) << shown;
    EXPECT_TRUE(contains(ended.errors, advice)) << shown;
  }
}

TEST_F(SuggestionTest, TimesMayHaveUnits) {
  router_.get("/", [] { return "ok"; });
  start_server();
  const std::string port = std::to_string(server_->port());
  for (const std::string& address : {":" + port, "127.0.0.1:" + port}) {
    const Ended ended = run({"bench", "-q", "-c", "1", "-d", "50ms", address});
    EXPECT_EQ(ended.code, 0) << ended.errors;
  }
}

}  // namespace
}  // namespace skua::test
