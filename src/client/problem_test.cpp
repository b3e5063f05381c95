// SPDX-License-Identifier: MIT
#include "client/problem.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace skua::client {
namespace {

TEST(Problem, SaysWhatCouldNotBeDoneAndWhy) {
  EXPECT_EQ(could_not("connect to a:1", Error::from_system(ECONNREFUSED, "connect")).text,
            "could not connect to a:1: the connection was refused");
  EXPECT_EQ(could_not("connect to a:1", Error::from_system(ENETUNREACH, "connect")).text,
            "could not connect to a:1: " + std::string(std::strerror(ENETUNREACH)));
  EXPECT_EQ(could_not("resolve a", {Errc::NameNotResolved, "nobody knows it"}).text,
            "could not resolve a: nobody knows it");
  EXPECT_EQ(could_not("resolve a", Errc::NameNotResolved).text,
            "could not resolve a: the name could not be resolved");
}

TEST(Problem, SaysHowLongWasWaited) {
  const Problem problem = timed_out("connect to a:1", {10s, "ClientTimeouts::connect"});
  EXPECT_EQ(problem.text,
            "could not connect to a:1: no answer within 10 s (ClientTimeouts::connect)");
  EXPECT_EQ(problem.error.code(), Errc::TimedOut);
  EXPECT_EQ(timed_out("x", {1500ms, "timeout", "not done"}).text,
            "could not x: not done within 1500 ms (timeout)");
}

TEST(Problem, SaysThatNamesAreAscii) {
  const auto text = [](std::string_view url) {
    return not_a_url("read it", url, Errc::MalformedUrl).text;
  };
  constexpr std::string_view hint = "its host has letters outside ASCII";
  EXPECT_NE(text("http://b\xc3\xbc"
                 "cher.example/")
                .find(hint),
            std::string::npos);
  EXPECT_NE(text("http://u:p@b\xc3\xbc").find(hint), std::string::npos);
  EXPECT_EQ(text("http://a b/\xc3\xbc"), could_not("read it", Errc::MalformedUrl).text);
  EXPECT_EQ(text("http://\xc3\xbc:p@a b/"), could_not("read it", Errc::MalformedUrl).text);
  EXPECT_EQ(text("\xc3\xbc"), could_not("read it", Errc::MalformedUrl).text);
}

// The log of a server has the problems of its handlers.
TEST(Problem, NamesNoSecretsOfUrls) {
  const Url url = Url::parse("http://u:p@a/b?c=d&access_token=SECRET#e").value();
  EXPECT_EQ(step_of("GET", url), "get http://a/b?c=d&access_token=***");
}

TEST(Problem, SaysWhoseCertificateWasNotAccepted) {
  EXPECT_EQ(
      could_not("get a", {Errc::TlsCertificate, "the peer did not accept our certificate"}).text,
      "could not get a: the peer did not accept our certificate");
}

TEST(Problem, KeepsWhatWasThrown) {
  const auto problem = [](auto thrown) { return problem_of(std::make_exception_ptr(thrown)); };
  EXPECT_EQ(problem(Exception(Errc::TimedOut)).code(), Errc::TimedOut);
  EXPECT_EQ(problem(std::runtime_error("why")).text, "why");
  EXPECT_EQ(problem(std::runtime_error("why")).code(), Errc::Cancelled);
  EXPECT_EQ(problem(1).code(), Errc::Cancelled);
  EXPECT_FALSE(problem(1).text.empty());
}

}  // namespace
}  // namespace skua::client
