// SPDX-License-Identifier: MIT
// Which failed requests are repeated, when, and how often: the rules, and `skua get --retry`.
#include "get/retry.hpp"

#include "cli/blunt_server.hpp"
#include "cli/get_fixture.hpp"
#include "support/scripted_server.hpp"

namespace skua::test {
namespace {

using namespace std::chrono_literals;
using cli::Attempts;
using cli::Retry;
using testing::ScriptedServer;
using With = Process::With;

cli::GetOptions options_for(const char* method, unsigned count) {
  cli::GetOptions options;
  options.method = method;
  options.retry.count = count;
  return options;
}

Problem refused() { return {.error = Errc::Refused, .text = "could not connect"}; }

TEST(Attempts, RetryAfterIsSecondsOrADate) {
  const std::chrono::sys_seconds now{784111777s};  // Sun, 06 Nov 1994 08:49:37 GMT
  const std::pair<std::string_view, std::optional<Duration>> cases[] = {
      {"0", 0s},
      {"120", 120s},
      {"99999999999999999999", 1'000'000'000s},
      {"Sun, 06 Nov 1994 08:50:37 GMT", 60s},
      {"Sun, 06 Nov 1994 08:48:37 GMT", 0s},
      {"Fri, 31 Dec 9999 23:59:59 GMT", 1'000'000'000s},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"1.5", std::nullopt},
      {"soon", std::nullopt},
  };
  for (const auto& [field, wait] : cases) {
    EXPECT_EQ(cli::parse_retry_after(field, now), wait) << field;
  }
}

TEST(Attempts, WaitsDoubleAndAreLimited) {
  cli::GetOptions options = options_for("GET", 10);
  options.retry.delay = 8s;
  Attempts attempts(options, true, {});
  for (const Duration longest : {8s, 16s, 32s, 60s, 60s}) {
    const std::optional<Retry> retry = attempts.after(refused(), {});
    ASSERT_TRUE(retry);
    EXPECT_GE(retry->wait, longest / 2);
    EXPECT_LE(retry->wait, longest);
  }
}

TEST(Attempts, AreCountedAndTheLineSaysSo) {
  const cli::GetOptions options = options_for("GET", 2);
  Attempts attempts(options, true, {});
  const std::optional<Retry> first = attempts.after(Status::ServiceUnavailable, 0s, {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->wait, 0s);
  EXPECT_EQ(first->line,
            "skua: retrying in 0.00 ms (1 of 2): the server answered 503 Service Unavailable\n");
  EXPECT_TRUE(attempts.after(refused(), {}));
  EXPECT_FALSE(attempts.after(refused(), {}));
}

TEST(Attempts, EndAtTheirTimeLimit) {
  cli::GetOptions options = options_for("GET", 9);
  options.retry.max_time = 10s;
  const loop::Instant begin{100s};
  Attempts attempts(options, true, begin);
  EXPECT_TRUE(attempts.after(Status::ServiceUnavailable, 5s, begin));
  EXPECT_FALSE(attempts.after(Status::ServiceUnavailable, 5s, begin + 6s));
  EXPECT_FALSE(attempts.after(refused(), begin + 10s));
}

TEST(Attempts, AServerCannotStopTheCommandForLong) {
  const cli::GetOptions options = options_for("GET", 9);
  Attempts attempts(options, true, {});
  EXPECT_TRUE(attempts.after(Status::TooManyRequests, 10min, {}));
  EXPECT_FALSE(attempts.after(Status::TooManyRequests, 601s, {}));
}

TEST(Attempts, NeverRepeatAnEffect) {
  struct Case {
    const char* method;
    bool has_repeatable_content;
    bool is_sent;
    bool is_repeated;
  };
  const Case cases[] = {
      {"GET", true, true, true},   {"PUT", true, true, true},    {"DELETE", true, true, true},
      {"PUT", false, true, false}, {"PUT", false, false, true},  {"POST", true, true, false},
      {"POST", true, false, true}, {"PATCH", true, true, false}, {"BREW", true, true, false},
      {"BREW", true, false, true},
  };
  for (const Case& one : cases) {
    const cli::GetOptions options = options_for(one.method, 1);
    Attempts attempts(options, one.has_repeatable_content, {});
    if (one.is_sent) attempts.note_head();
    EXPECT_EQ(attempts.after(refused(), {}).has_value(), one.is_repeated)
        << one.method << one.is_sent;
  }
}

TEST(Attempts, OnlyPassingFailuresCount) {
  for (const unsigned code : {200U, 301U, 400U, 401U, 404U, 501U, 505U}) {
    EXPECT_FALSE(cli::is_transient(static_cast<Status>(code))) << code;
  }
  for (const unsigned code : {408U, 425U, 429U, 500U, 502U, 503U, 504U}) {
    EXPECT_TRUE(cli::is_transient(static_cast<Status>(code))) << code;
  }
  for (const Errc code : {Errc::TlsCertificate, Errc::MalformedUrl, Errc::TooManyRedirects}) {
    EXPECT_FALSE(cli::is_transient(code));
  }
  for (const Errc code : {Errc::Refused, Errc::TimedOut, Errc::Reset, Errc::Closed}) {
    EXPECT_TRUE(cli::is_transient(code));
  }
}

// Answers 503, with a wait of zero, before it answers.
class Retried : public GetFixture {
 protected:
  Retried()
      : server_([this](std::string_view) {
          const bool is_ready = ++asked_ > failures_;
          return BluntServer::Answer{
              is_ready ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready"
                       : "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"};
        }) {}
  [[nodiscard]] std::string place() const { return ":" + std::to_string(server_.port()) + "/"; }

  unsigned failures_ = 2;

 private:
  unsigned asked_ = 0;
  BluntServer server_;
};

TEST_F(Retried, ARequestIsRepeatedUntilItIsAnswered) {
  const Ended ended = run({"get", place(), "--retry", "3"});
  EXPECT_EQ(ended.output, "ready");
  EXPECT_EQ(ended.errors,
            "skua: retrying in 0.00 ms (1 of 3): the server answered 503 Service Unavailable\n"
            "skua: retrying in 0.00 ms (2 of 3): the server answered 503 Service Unavailable\n");
}

TEST_F(Retried, QuietSaysNothing) {
  EXPECT_EQ(run({"get", place(), "--retry", "2", "-q"}).errors, "");
}

TEST_F(Retried, TheLastAnswerCounts) {
  EXPECT_EQ(run({"get", place(), "--retry", "1", "--fail"}).code, 5);
}

TEST_F(Retried, APostIsNotRepeated) {
  const Ended ended = run({"post", place(), "a=b", "--retry", "3", "--fail"});
  EXPECT_EQ(ended.errors, "");
  EXPECT_EQ(ended.code, 5);
}

TEST_F(Retried, InputIsNotReadTwice) {
  const auto process =
      start({"put", place(), "--data", "-", "--retry", "3", "--fail"}, With::Pipes);
  process->write("text");
  process->end_input();
  EXPECT_EQ(end(process).code, 5);
}

TEST_F(Retried, DownloadsAreRepeated) {
  const Ended ended = run({"get", place(), "-o", "file", "--retry", "2"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_EQ(content("file"), "ready");
}

TEST_F(GetFixture, AnUnsentRequestIsRepeatedWhateverItsMethod) {
  const ClosedPort closed;
  const Ended ended = run({"post", ":" + std::to_string(closed.number()) + "/", "a=b", "--retry",
                           "2", "--retry-delay", "0.01"});
  EXPECT_EQ(ended.code, 7);
  EXPECT_TRUE(contains(ended.errors, " ms (2 of 2): could not connect to "));
}

TEST_F(GetFixture, ADownloadGoesOnWhereItWasCutOff) {
  std::string second;
  const auto read_head = [](testing::Client& peer) {
    std::string head;
    while (head.find("\r\n\r\n") == head.npos) {
      const std::string some = peer.some();
      if (some.empty()) break;
      head += some;
    }
    return head;
  };
  const ScriptedServer server({[&](testing::Client& peer) {
                                 read_head(peer);
                                 peer.send(
                                     "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"
                                     "Content-Length: 10\r\n\r\n01234");
                               },
                               [&](testing::Client& peer) {
                                 second = read_head(peer);
                                 peer.send(
                                     "HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\n"
                                     "Content-Range: bytes 5-9/10\r\n"
                                     "Content-Length: 5\r\n\r\n56789");
                               }});
  const Ended ended = run({"get", "127.0.0.1:" + std::to_string(server.port()) + "/file", "-d",
                           "--retry", "1", "--retry-delay", "0.01"});
  EXPECT_EQ(ended.code, 0) << ended.errors;
  EXPECT_TRUE(contains(second, "\r\nRange: bytes=5-\r\nIf-Range: \"1\"\r\n"));
  EXPECT_EQ(content("file"), "0123456789");
}

TEST_F(GetFixture, CtrlCEndsAWait) {
  const BluntServer server([](std::string_view) {
    return BluntServer::Answer{
        "HTTP/1.1 429 Slow\r\nRetry-After: 500\r\nContent-Length: 0\r\n\r\n"};
  });
  const auto process = start({"get", ":" + std::to_string(server.port()) + "/", "--retry", "1"});
  EXPECT_TRUE(contains(process->errors_until("retrying"), "(1 of 1): the server answered 429"));
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), 130);
}

}  // namespace
}  // namespace skua::test
