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

}  // namespace
}  // namespace skua::test
