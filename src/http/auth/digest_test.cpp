// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "crypto/digest.hpp"
#include "skua/credentials.hpp"

namespace skua {
namespace {

using enum DigestAlgorithm;

Result<DigestCredentials> read(std::string_view field) {
  const auto credentials = parse_credentials(field);
  if (!credentials) return credentials.error();
  return DigestCredentials::from(*credentials);
}

std::string secret(DigestAlgorithm algorithm) {
  return digest_secret(algorithm, "Mufasa", "http-auth@example.org", "Circle of Life").value();
}

class Digest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  }
};

TEST_F(Digest, ComputesTheExampleWithTwoAlgorithms) {
  // RFC 7616 §3.9.1
  const auto field = [](std::string_view algorithm, std::string_view response) {
    return R"(Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", )"
           R"(nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, qop=auth, )"
           R"(cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", )"
           R"(opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", algorithm=)" +
           std::string(algorithm) + ", response=\"" + std::string(response) + "\"";
  };
  for (const auto& [algorithm, response] :
       {std::pair<std::string_view, std::string_view>{"MD5", "8ca523f5e9506fed4657c9700eebdbec"},
        {"SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"}}) {
    const auto credentials = read(field(algorithm, response)).value();
    EXPECT_EQ(credentials.user, "Mufasa");
    EXPECT_EQ(credentials.uri, "/dir/index.html");
    EXPECT_EQ(credentials.nonce_count, 1U);
    EXPECT_EQ(credentials.qop, DigestQop::Auth);
    EXPECT_EQ(name(credentials.algorithm), algorithm);
    EXPECT_EQ(credentials.compute(secret(credentials.algorithm), "GET").value(), response);
  }
}

// RFC 7616 §3.9.2 with the values of erratum 4897: the RFC's own are of a truncated SHA-512.
constexpr std::string_view user = "J\xc3\xa4s\xc3\xb8n Doe";
constexpr std::string_view user_hash =
    "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b";
constexpr std::string_view hidden_response =
    "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5";
constexpr std::string_view rest_of_example =
    R"(, realm="api@example.org", uri="/doe.json", algorithm=SHA-512-256, )"
    R"(nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", nc=00000001, )"
    R"(cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v", qop=auth, )"
    R"(response="3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5", )"
    R"(opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS")";

TEST_F(Digest, ComputesTheExampleWithAHiddenUser) {
  const auto credentials = read("Digest username=\"" + std::string(user_hash) + "\"" +
                                std::string(rest_of_example) + ", userhash=true")
                               .value();
  EXPECT_TRUE(credentials.is_user_hashed);
  EXPECT_EQ(digest_user_hash(Sha512256, user, "api@example.org").value(), user_hash);
  EXPECT_EQ(credentials.user, user_hash);
  const std::string key =
      digest_secret(Sha512256, user, "api@example.org", "Secret, or not?").value();
  EXPECT_EQ(credentials.compute(key, "GET").value(), hidden_response);
  EXPECT_EQ(credentials.response, hidden_response);
}

TEST_F(Digest, ReadsAnEncodedUser) {
  const auto credentials =
      read("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe" + std::string(rest_of_example)).value();
  EXPECT_EQ(credentials.user, user);
  EXPECT_FALSE(credentials.is_user_hashed);
  EXPECT_EQ(read(credentials.field()).value().user, user);
  for (const std::string_view wrong :
       {"username*=UTF-8''%C", "username*=UTF-8'J", "username*=latin1''J", "username*=UTF-8''%zz",
        "username*=UTF-8''J, username=\"J\"", "username*=UTF-8''J, userhash=true", "x=y",
        "username*=\"UTF-8''a b\""}) {
    EXPECT_FALSE(read("Digest " + std::string(wrong) + std::string(rest_of_example))) << wrong;
  }
}

TEST_F(Digest, ComputesTheExamplesOfOlderStandards) {
  // RFC 2617 §3.5; RFC 2069 §2.4 with the value of erratum 749
  const auto credentials = read(
      R"(Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", )"
      R"(uri="/dir/index.html", qop=auth, nc=00000001, cnonce="0a4f113b", )"
      R"(response="6629fae49393a05397450978507c4ef1", opaque="5ccc069c403ebaf9f0171e9517f40e41")");
  const std::string key =
      digest_secret(Md5, "Mufasa", "testrealm@host.com", "Circle Of Life").value();
  EXPECT_EQ(credentials.value().compute(key, "GET").value(), "6629fae49393a05397450978507c4ef1");
  const auto legacy =
      read(
          R"(Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", )"
          R"(uri="/dir/index.html", response="1949323746fe6a43ef61f9606e7febea")")
          .value();
  EXPECT_EQ(legacy.qop, DigestQop::Legacy);
  const std::string old =
      digest_secret(Md5, "Mufasa", "testrealm@host.com", "CircleOfLife").value();
  EXPECT_EQ(legacy.compute(old, "GET").value(), legacy.response);
}

TEST_F(Digest, ComputesSessionsAndContent) {
  // Values from an independent implementation.
  struct Expected {
    DigestAlgorithm session;
    DigestAlgorithm plain;
    std::string_view auth_response;
    std::string_view auth_int_response;
  };
  for (const auto& [session, plain, auth, auth_int] :
       {Expected{Md5Sess, Md5, "2efbaae5401bf1758a2676e20689005d",
                 "8f70ea28c8b72d810c209f057c645bac"},
        Expected{Sha256Sess, Sha256,
                 "22ce56ea8fbf4e93cf3ecd709a5b018b3f7117c0050e8273cf7c49632c8b1d63",
                 "f725881f50f262aa4aa1a8cb7f49adaefe2ef3e9f1696a51ba085585ad51749e"},
        Expected{Sha512256Sess, Sha512256,
                 "421e19f517fbabc92849e65873124e54cb40a90cdd84060dd38986d67badbd9e",
                 "65f9920645d17e0056b93545ba3bd0375dfbd14dd2b708b595da424d6b017c3a"}}) {
    DigestCredentials credentials;
    credentials.nonce = "N";
    credentials.cnonce = "C";
    credentials.uri = "/x";
    credentials.nonce_count = 10;
    credentials.algorithm = session;
    credentials.qop = DigestQop::Auth;
    EXPECT_EQ(secret(session), secret(plain));
    EXPECT_EQ(credentials.compute(secret(session), "POST", "body").value(), auth);
    credentials.algorithm = plain;
    credentials.qop = DigestQop::AuthInt;
    EXPECT_EQ(credentials.compute(secret(plain), "POST", "body").value(), auth_int);
  }
}

TEST(DigestFields, MalformedCredentialsAreRefused) {
  const std::string good =
      "Digest username=u, realm=r, nonce=n, uri=/x, response=d, qop=auth, nc=00000001, cnonce=c";
  const std::string quoted = R"(Digest username="u", realm="r", nonce="n", uri="/", response="d")";
  EXPECT_TRUE(read(quoted));
  EXPECT_FALSE(read(good)) << "a slash is not allowed in a token";
  EXPECT_TRUE(read(quoted + ", qop=auth, nc=0000000a, cnonce=c"));
  EXPECT_EQ(read(quoted + ", qop=auth, nc=0000000a, cnonce=c").value().nonce_count, 10U);
  EXPECT_TRUE(read(quoted + ", qop=\"auth-int\", nc=ffffffff, cnonce=c"));
  for (const std::string_view more :
       {", qop=auth", ", qop=auth, nc=00000001", ", qop=auth, cnonce=c",
        ", qop=auth, nc=1, cnonce=c", ", qop=auth, nc=00000000, cnonce=c",
        ", qop=auth, nc=0000000A, cnonce=c", ", qop=auth, nc=0000000g, cnonce=c",
        ", qop=auth, nc=000000001, cnonce=c", ", qop=auth, nc=00000001, cnonce=\"\"",
        ", qop=none, nc=00000001, cnonce=c", ", algorithm=SHA-1", ", algorithm=MD4", ", uri=/",
        ", username=v", ", username*=UTF-8''v"}) {
    EXPECT_FALSE(read(quoted + std::string(more))) << more;
  }
  EXPECT_FALSE(read("Basic a=b"));
  EXPECT_FALSE(read(R"(Digest username="u", realm="r", nonce="n", uri="/")"));
}

TEST(DigestFields, AChallengeComesBack) {
  DigestChallenge challenge;
  challenge.realm = "a \"b\" \\";
  challenge.nonce = "n";
  challenge.opaque = "o";
  challenge.domain = "/a /b";
  challenge.algorithm = Sha256Sess;
  challenge.offers_auth_int = true;
  challenge.is_stale = true;
  challenge.wants_user_hash = true;
  EXPECT_EQ(challenge.field(),
            R"(Digest realm="a \"b\" \\", domain="/a /b", nonce="n", opaque="o", stale=true, )"
            R"(algorithm=SHA-256-sess, qop="auth, auth-int", charset=UTF-8, userhash=true)");
  const auto back = DigestChallenge::from(parse_credentials(challenge.field()).value()).value();
  EXPECT_EQ(back.realm, challenge.realm);
  EXPECT_EQ(back.field(), challenge.field());
  const auto bare = DigestChallenge::from(parse_credentials("digest nonce=n").value()).value();
  EXPECT_EQ(bare.algorithm, Md5);
  EXPECT_FALSE(bare.offers_auth || bare.offers_auth_int || bare.is_stale);
  EXPECT_FALSE(DigestChallenge::from(parse_credentials("Digest realm=r").value()));
  EXPECT_FALSE(DigestChallenge::from(parse_credentials("Digest nonce=n, algorithm=X").value()));
  EXPECT_FALSE(DigestChallenge::from(parse_credentials("Digest nonce=n, qop=other").value()));
}

class Session : public Digest {
 protected:
  // Reports whether a response of the session matches what a server would compute.
  static bool is_right(const std::string& field, std::string_view method,
                       std::string_view body = {}) {
    const auto credentials = read(field).value();
    const std::string key =
        digest_secret(credentials.algorithm, "Mufasa", credentials.realm, "Circle of Life").value();
    return credentials.compute(key, method, body).value() == credentials.response;
  }

  DigestSession session_{"Mufasa", "Circle of Life"};
};

TEST_F(Session, AnswersTheStrongestChallengeAndCounts) {
  EXPECT_FALSE(session_.has_challenge());
  EXPECT_EQ(session_.authorize("GET", "/").error().code(), Errc::Unsupported);
  const std::array<std::string_view, 3> fields = {
      R"(Basic realm="r", Digest realm="weak", nonce="n1", qop="auth", algorithm=MD5)",
      R"(Digest realm="strong", nonce="n2", qop="auth,auth-int", algorithm=SHA-256, opaque="o")",
      R"(broken ""))"};
  session_.accept(fields).value();
  for (std::uint32_t count = 1; count <= 20; ++count) {
    const std::string field = session_.authorize("GET", "/a?b=\"c\"").value();
    const auto credentials = read(field).value();
    EXPECT_EQ(credentials.algorithm, Sha256);
    EXPECT_EQ(credentials.qop, DigestQop::Auth);
    EXPECT_EQ(credentials.nonce_count, count);
    EXPECT_EQ(credentials.opaque, "o");
    EXPECT_EQ(credentials.uri, "/a?b=\"c\"");
    EXPECT_TRUE(is_right(field, "GET"));
    EXPECT_FALSE(is_right(field, "POST"));
  }
}

TEST_F(Session, AnswersEveryKindOfChallenge) {
  for (const std::string_view algorithm :
       {"MD5", "MD5-sess", "SHA-256", "SHA-256-sess", "SHA-512-256", "SHA-512-256-sess"}) {
    for (const std::string_view more : {"", ", qop=\"auth\"", ", qop=\"auth-int\""}) {
      const std::string field =
          "Digest realm=\"r\", nonce=\"n\", algorithm=" + std::string(algorithm) +
          std::string(more);
      const std::array<std::string_view, 1> fields = {field};
      session_.accept(fields).value();
      EXPECT_TRUE(is_right(session_.authorize("PUT", "/", "body").value(), "PUT", "body")) << field;
    }
  }
}

TEST_F(Session, HidesTheUserWhereTheServerAsks) {
  const std::array<std::string_view, 1> fields = {
      R"(Digest realm="r", nonce="n", algorithm=SHA-256, qop="auth", userhash=true)"};
  session_.accept(fields).value();
  const std::string field = session_.authorize("GET", "/").value();
  EXPECT_EQ(field.find("Mufasa"), field.npos);
  EXPECT_TRUE(is_right(field, "GET"));
}

// Apache httpd 2.4 and squid 5 do not support `username*` and do not send charset=UTF-8.
TEST_F(Session, EncodesTheUserOnlyWhereTheServerKnowsHow) {
  const std::array<std::string_view, 1> old = {R"(Digest realm="r", nonce="n", qop="auth")"};
  const std::array<std::string_view, 1> modern = {
      R"(Digest realm="r", nonce="n", qop="auth", charset=utf-8)"};
  DigestSession session("J\u00e4s\u00f8n \"x\"", "p");
  session.accept(old).value();
  EXPECT_TRUE(session.authorize("GET", "/")
                  .value()
                  .starts_with("Digest username=\"J\u00e4s\u00f8n \\\"x\\\"\", "));
  session.accept(modern).value();
  EXPECT_TRUE(session.authorize("GET", "/")
                  .value()
                  .starts_with("Digest username*=UTF-8''J%c3%a4s%c3%b8n%20%22x%22, "));
  DigestSession hostile("a\r\nb: c", "p");
  hostile.accept(old).value();
  EXPECT_TRUE(hostile.authorize("GET", "/")
                  .value()
                  .starts_with("Digest username*=UTF-8''a%0d%0ab%3a%20c, "));
}

TEST_F(Session, StartsAnewWithANewNonce) {
  const std::array<std::string_view, 1> first = {R"(Digest realm="r", nonce="n1", qop="auth")"};
  session_.accept(first).value();
  EXPECT_FALSE(session_.is_stale());
  EXPECT_EQ(read(session_.authorize("GET", "/").value()).value().nonce_count, 1U);
  session_.advance(R"(rspauth="x", nextnonce="n2")").value();
  const auto next = read(session_.authorize("GET", "/").value()).value();
  EXPECT_EQ(next.nonce, "n2");
  EXPECT_EQ(next.nonce_count, 1U);
  session_.advance(R"(nextnonce="n2")").value();
  EXPECT_EQ(read(session_.authorize("GET", "/").value()).value().nonce_count, 2U);
  EXPECT_FALSE(session_.advance("\"")) << "malformed";
  const std::array<std::string_view, 1> stale = {
      R"(Digest realm="r", nonce="n3", qop="auth", stale=TRUE)"};
  session_.accept(stale).value();
  EXPECT_TRUE(session_.is_stale());
  const std::array<std::string_view, 1> other = {R"(Basic realm="r")"};
  EXPECT_EQ(session_.accept(other).error().code(), Errc::Unsupported);
}

}  // namespace
}  // namespace skua
