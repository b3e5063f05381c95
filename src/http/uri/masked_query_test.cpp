// SPDX-License-Identifier: MIT
#include "http/uri/masked_query.hpp"

#include <gtest/gtest.h>

namespace skua::http {
namespace {

std::string masked(std::string_view text) {
  const std::vector<std::string> names{"token", "api_key"};
  return std::string(MaskedQuery(text, names).text());
}

TEST(MaskedQuery, ReplacesTheValuesOfSomeParameters) {
  EXPECT_EQ(masked("/a?token=secret"), "/a?token=***");
  EXPECT_EQ(masked("/a?x=1&token=secret&y=2"), "/a?x=1&token=***&y=2");
  EXPECT_EQ(masked("/a?api_key=a&token=b"), "/a?api_key=***&token=***");
  EXPECT_EQ(masked("https://h/a?token=b#c"), "https://h/a?token=***#c");
  EXPECT_EQ(masked("https://h/a#token=b&x=1"), "https://h/a#token=***&x=1");
}

TEST(MaskedQuery, KnowsNamesHoweverTheyAreWritten) {
  EXPECT_EQ(masked("/?TOKEN=a"), "/?TOKEN=***");
  EXPECT_EQ(masked("/?%74oken=a"), "/?%74oken=***");
  EXPECT_EQ(masked("/?t%6Fken=a"), "/?t%6Fken=***");
  EXPECT_EQ(masked("/?x=1;token=a"), "/?x=1;token=***");
  EXPECT_EQ(masked("/?x?token=a"), "/?x?token=***");
  EXPECT_EQ(masked("/?token=a=b"), "/?token=***");
}

TEST(MaskedQuery, KnowsTheNamesOfSecrets) {
  const std::vector<std::string> names = secret_parameters();
  for (const std::string name :
       {"access_token", "refresh_token", "id_token", "client_secret", "code", "token", "jwt",
        "auth", "session", "key", "password", "X-Amz-Signature", "x-goog-signature"}) {
    EXPECT_EQ(MaskedQuery("/?" + name + "=value", names).text(), "/?" + name + "=***");
  }
  for (const std::string name : {"q", "page", "author", "sessions", "keyword", "codec"}) {
    EXPECT_EQ(MaskedQuery("/?" + name + "=value", names).text(), "/?" + name + "=value");
  }
}

TEST(MaskedQuery, MasksTheUsualSecretsUnlessOthersAreNamed) {
  EXPECT_EQ(MaskedQuery("/?Access_Token=a&jwt=b&page=3").text(),
            "/?Access_Token=***&jwt=***&page=3");
}

TEST(MaskedQuery, LeavesEverythingElse) {
  for (const std::string_view text : {"", "/", "/token=a", "/?token", "/?token=", "/?tokens=a",
                                      "/?a=token", "/?&&=&", "/?%7", "/?%zz=a", "*"}) {
    EXPECT_EQ(masked(text), text);
  }
}

}  // namespace
}  // namespace skua::http
