// SPDX-License-Identifier: MIT
#include "http/auth/challenge.hpp"

#include <gtest/gtest.h>

#include <string>

namespace skua {
namespace {

// Formats challenges as `scheme token{name=value}...`, separated by bars.
std::string shown(std::string_view field) {
  const auto challenges = parse_challenges(field);
  if (!challenges) return "malformed";
  std::string out;
  for (const Challenge& challenge : *challenges) {
    if (!out.empty()) out += " | ";
    out += challenge.scheme;
    if (!challenge.token.empty()) out += " " + challenge.token;
    for (const auto& [name, value] : challenge.parameters) out += " {" + name + "=" + value + "}";
  }
  return out;
}

TEST(Challenge, ReadsSeveralInOneField) {
  // RFC 9110 §11.6.1
  EXPECT_EQ(
      shown(R"(Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"")"),
      R"(Basic {realm=simple} | Newauth {realm=apps} {type=1} {title=Login to "apps"})");
  EXPECT_EQ(shown("Negotiate, Basic realm=a"), "Negotiate | Basic {realm=a}");
  EXPECT_EQ(shown("Negotiate abc==, NTLM, Digest nonce=n"),
            "Negotiate abc== | NTLM | Digest {nonce=n}");
}

TEST(Challenge, TellsATokenFromParameters) {
  EXPECT_EQ(shown("A b"), "A b");
  EXPECT_EQ(shown("A b="), "A b=");
  EXPECT_EQ(shown("A b=="), "A b==");
  EXPECT_EQ(shown("A b=c"), "A {b=c}");
  EXPECT_EQ(shown("A b= c"), "A {b=c}");
  EXPECT_EQ(shown("A b = \"c\""), "A {b=c}");
  EXPECT_EQ(shown("A b/c+d-e._~"), "A b/c+d-e._~");
  EXPECT_EQ(shown("A b=,C d=e"), "A b= | C {d=e}");
}

TEST(Challenge, IgnoresEmptyElementsAndSpace) {
  EXPECT_EQ(shown(" , A b=c ,, d=e,\t, F , "), "A {b=c} {d=e} | F");
  EXPECT_EQ(shown("A , b=c"), "A {b=c}");
  EXPECT_EQ(shown("A   b=\"\""), "A {b=}");
}

TEST(Challenge, NamesHaveNoCase) {
  const auto challenge = parse_credentials("bAsIc ReAlM=\"X\"").value();
  EXPECT_TRUE(challenge.is("Basic"));
  EXPECT_FALSE(challenge.is("Basi"));
  EXPECT_EQ(*challenge.find("realm"), "X");
  EXPECT_EQ(challenge.find("nonce"), nullptr);
}

TEST(Challenge, MalformedFieldsAreRefused) {
  for (const std::string_view field : {"",
                                       " ",
                                       ",",
                                       "=",
                                       "a=b",
                                       "\"a\"",
                                       "A \"b\"",
                                       "A b=\"",
                                       "A b=\"c",
                                       "A b=\"c\\",
                                       "A b=\"c\\\"",
                                       "A b=\"c\"d",
                                       "A b c",
                                       "A b=c d=e",
                                       "A b=c d",
                                       "A b=\x01",
                                       "A b=\"\x01\"",
                                       "A b=\"\\\n\"",
                                       "A b==c",
                                       "A b=c, B=d, b=e",
                                       "A b=c, B d=e f",
                                       "A\tb",
                                       "A b, c=d",
                                       "A =b",
                                       "A ==",
                                       "(A)",
                                       "A b=(c)"}) {
    EXPECT_EQ(shown(field), "malformed") << field;
  }
}

TEST(Challenge, BoundsWhatItReads) {
  const auto list = [](std::string text, const std::string& one, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      text += "," + one + std::to_string(i) + (one == "p" ? "=1" : "");
    return text;
  };
  EXPECT_TRUE(parse_challenges(list("", "A", max_challenges)));
  EXPECT_FALSE(parse_challenges(list("", "A", max_challenges + 1)));
  EXPECT_TRUE(parse_challenges(list("A", "p", max_challenge_parameters)));
  EXPECT_FALSE(parse_challenges(list("A", "p", max_challenge_parameters + 1)));
  EXPECT_TRUE(parse_challenges("A " + std::string(max_challenge_bytes - 2, 'b')));
  EXPECT_FALSE(parse_challenges("A " + std::string(max_challenge_bytes - 1, 'b')));
}

TEST(Challenge, CredentialsAreOne) {
  EXPECT_TRUE(parse_credentials("Bearer abc"));
  EXPECT_FALSE(parse_credentials("Bearer abc, Basic def"));
}

TEST(Challenge, ReadsParametersWithoutAScheme) {
  const auto info = http::parse_auth_parameters("nextnonce=\"a b\", qop=auth").value();
  EXPECT_EQ(*info.find("nextnonce"), "a b");
  EXPECT_EQ(*info.find("qop"), "auth");
  EXPECT_TRUE(http::parse_auth_parameters(""));
  EXPECT_FALSE(http::parse_auth_parameters("Digest a=b"));
}

TEST(Challenge, TakesTheSchemeOff) {
  EXPECT_EQ(http::after_scheme("bearer  abc ", "Bearer"), "abc");
  EXPECT_EQ(http::after_scheme("Bearer", "Bearer"), "");
  EXPECT_FALSE(http::after_scheme("Bearerabc", "Bearer"));
  EXPECT_FALSE(http::after_scheme("Basic abc", "Bearer"));
  EXPECT_FALSE(http::after_scheme("", "Bearer"));
}

TEST(BasicCredentials, ReadsAndWritesTheExamplesOfTheStandard) {
  // RFC 7617 §2, §2.1
  const auto aladdin = BasicCredentials::parse("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==").value();
  EXPECT_EQ(aladdin.user, "Aladdin");
  EXPECT_EQ(aladdin.password, "open sesame");
  EXPECT_EQ(aladdin.field().value(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  const auto test = BasicCredentials::parse("basic dGVzdDoxMjPCow==").value();
  EXPECT_EQ(test.user, "test");
  EXPECT_EQ(test.password, "123\xc2\xa3");
}

TEST(BasicCredentials, OnlyThePasswordHasColons) {
  const BasicCredentials credentials{"a", "b:c:"};
  const auto read = BasicCredentials::parse(credentials.field().value()).value();
  EXPECT_EQ(read.user, "a");
  EXPECT_EQ(read.password, "b:c:");
  EXPECT_EQ((BasicCredentials{"a:b", "c"}.field().error().code()), Errc::MalformedChallenge);
  EXPECT_EQ(BasicCredentials::parse((BasicCredentials{}.field().value())).value().user, "");
}

TEST(BasicCredentials, MalformedFieldsAreRefused) {
  for (const std::string_view field :
       {"", "Basic", "Basic ", "Basic YQ==" /* a */, "Basic YTpi!", "Basic YTo=YTo=", "Basic YTp",
        "Basicx YTpi", "Digest YTpi", "Basic YTpi YTpi", "Basic YTpi, Basic YTpi",
        "Basic YToK" /* a:\n */, "Basic AGE6Yg=="}) {
    EXPECT_FALSE(BasicCredentials::parse(field)) << field;
  }
  EXPECT_FALSE((BasicCredentials{"a\n", "b"}.field()));
  EXPECT_FALSE((BasicCredentials{"a", "b\x7f"}.field()));
}

}  // namespace
}  // namespace skua
