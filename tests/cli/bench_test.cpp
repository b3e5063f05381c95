// SPDX-License-Identifier: MIT
// `skua bench` as scripts see it: its counts match the server's.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cli/blunt_server.hpp"
#include "cli/process.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua::test {
namespace {

using Json = nlohmann::json;
using Arguments = std::vector<std::string>;

/// The outcome of a run.
struct Ended {
  int code = -1;
  std::string output{};
  std::string errors{};
  Json report{};

  [[nodiscard]] std::uint64_t count(const std::string& pointer) const {
    return report.at(Json::json_pointer(pointer)).get<std::uint64_t>();
  }
};

Ended end_of(Process& process, bool is_json) {
  Ended outcome;
  outcome.output = process.output();
  outcome.errors = process.errors();
  outcome.code = process.wait();
  if (is_json) outcome.report = Json::parse(outcome.output);  // throws and so fails the test
  return outcome;
}

Ended bench(Arguments arguments, const std::string& url) {
  arguments.insert(arguments.begin(), {"bench", "--json", url});
  Process process(arguments);
  return end_of(process, true);
}

std::string url_of(std::uint16_t port, const std::string& path = "/") {
  return "http://127.0.0.1:" + std::to_string(port) + path;
}

class BenchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    router_.get("/", [] { return "Hello, World!"; });
    router_.get("/slow", []() -> Task<Response> {
      co_await sleep(30ms);
      co_return Response("slow");
    });
    router_.get("/broken", [] { return Response(Status::InternalServerError); });
    router_.get("/gone", [] { return Response(Status::NotFound); });
    router_.post("/echo", [this](const Request& request) {
      posted_ = std::string(request.body());
      said_ = std::string(request.header("X-Name").value_or("-"));
      return Response(posted_);
    });
    start(ServerOptions());
  }
  void start(ServerOptions options) {
    server_.reset();
    server_ = std::make_unique<testing::TestServer>(router_, BackendChoice::Auto,
                                                    std::move(options), testing::Transport::Tcp);
  }
  [[nodiscard]] Ended run(const Arguments& arguments, const std::string& path = "/") const {
    return bench(arguments, url_of(server_->port(), path));
  }
  [[nodiscard]] Counters counters() const { return (*server_)->counters(); }

  Router router_;
  std::unique_ptr<testing::TestServer> server_;
  std::string posted_;
  std::string said_;
};

TEST_F(BenchTest, CountsWhatTheServerCounts) {
  for (const Arguments& how : {Arguments{"-c", "5"}, Arguments{"-c", "5", "--pipeline", "4"},
                               Arguments{"-c", "5", "--backend", "poll"}}) {
    start(ServerOptions());
    Arguments arguments = {"-d", "1"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const Ended outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    const std::uint64_t answers = outcome.count("/answers");
    EXPECT_GE(answers, 5U);
    EXPECT_EQ(answers, counters().requests);
    EXPECT_EQ(answers, outcome.count("/statuses/2xx"));
    EXPECT_EQ(outcome.count("/connections_made"), 5U);
    EXPECT_EQ(outcome.count("/reconnects"), 0U);
    // A server counts bytes once the system has them, when the peer may already have them too.
    while (counters().connections_open != 0) std::this_thread::yield();
    EXPECT_EQ(outcome.count("/bytes_sent"), counters().bytes_received);
    EXPECT_EQ(outcome.count("/bytes_received"), counters().bytes_sent);
    EXPECT_EQ(outcome.count("/failures"), 0U);
    EXPECT_GE(outcome.report["elapsed_us"], 100'000.0);
  }
}

TEST_F(BenchTest, LatenciesAreInOrder) {
  const Ended outcome = run({"-n", "500", "-c", "3"});
  const Json& latency = outcome.report["latency_us"];
  double last = 0;
  for (const char* name : {"min", "p50", "p90", "p99", "p99_9", "p99_99", "max"}) {
    EXPECT_GE(latency[name], last) << name;
    last = latency[name];
  }
  EXPECT_GT(latency["min"], 0.0);
  EXPECT_GE(latency["mean"], latency["min"]);
  EXPECT_LE(latency["mean"], latency["max"]);
  EXPECT_FALSE(outcome.report.contains("uncorrected_latency_us")) << "no rate was set";
  EXPECT_GT(outcome.report["cpu_us_per_answer"], 0.0);
}

TEST_F(BenchTest, SendsExactlySoManyRequests) {
  for (const char* connections : {"1", "7", "64"}) {
    for (const char* depth : {"1", "3"}) {
      start(ServerOptions());
      const Ended outcome = run({"-n", "100", "-c", connections, "--pipeline", depth});
      EXPECT_EQ(outcome.code, 0) << outcome.errors;
      EXPECT_EQ(outcome.count("/answers"), 100U);
      EXPECT_EQ(counters().requests, 100U);
      EXPECT_EQ(outcome.count("/not_sent"), 0U);
    }
  }
  EXPECT_EQ(run({"-n", "3", "-c", "64"}).count("/connections_made"), 3U);
}

TEST_F(BenchTest, ThreadsShareTheWork) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one core";
  const Ended outcome = run({"-n", "101", "-c", "5", "-t", "2"});
  EXPECT_EQ(outcome.count("/answers"), 101U);
  EXPECT_EQ(outcome.count("/connections_made"), 5U);
  EXPECT_EQ(counters().requests, 101U);
}

TEST_F(BenchTest, KeepsTheRate) {
  const Ended outcome = run({"-r", "100", "-d", "1", "-c", "4"});
  // Requests are due only after the connections are up, so there may be fewer than 100.
  const std::uint64_t due = outcome.count("/answers") + outcome.count("/not_sent");
  EXPECT_LE(due, 101U);
  EXPECT_GE(due, 20U);
  EXPECT_EQ(outcome.count("/answers"), counters().requests);
}

TEST_F(BenchTest, LatencyCountsFromWhenARequestWasDue) {
  // Due every 10 ms, answered in 30 ms: each response is 20 ms later than the last.
  const Ended outcome = run({"-r", "100", "-n", "20", "-c", "1"}, "/slow");
  EXPECT_EQ(outcome.count("/answers"), 20U);
  const Json& corrected = outcome.report["latency_us"];
  const Json& uncorrected = outcome.report["uncorrected_latency_us"];
  EXPECT_GE(corrected["max"], 400'000.0);
  EXPECT_GE(corrected["p50"], 200'000.0);
  EXPECT_GE(uncorrected["min"], 30'000.0);
  EXPECT_LT(uncorrected["mean"], corrected["mean"]);
}

TEST_F(BenchTest, WhatWasDueAndCouldNotBeSentIsTold) {
  const Ended outcome = run({"-r", "1000", "-d", "1", "-c", "1"}, "/slow");
  EXPECT_GT(outcome.count("/not_sent"), outcome.count("/answers"));
  EXPECT_EQ(outcome.count("/answers"), counters().requests);
}

TEST_F(BenchTest, TheWarmupIsNotCounted) {
  const Ended outcome = run({"--warmup", "1", "-d", "1", "-c", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_GT(outcome.count("/warmup_answers"), 0U);
  EXPECT_EQ(outcome.count("/warmup_answers") + outcome.count("/answers"), counters().requests);
  EXPECT_EQ(outcome.count("/connections_made"), 2U);
}

TEST_F(BenchTest, StatusesOfErrorsAreErrors) {
  const Ended broken = run({"-n", "20"}, "/broken");
  EXPECT_EQ(broken.code, 1);
  EXPECT_EQ(broken.count("/statuses/5xx"), 20U);
  EXPECT_NE(broken.errors.find("20 responses with a 4xx, 5xx"), std::string::npos) << broken.errors;
  const Ended gone = run({"-n", "20"}, "/gone");
  EXPECT_EQ(gone.code, 1);
  EXPECT_EQ(gone.count("/statuses/4xx"), 20U);
}

TEST_F(BenchTest, ConnectsAgainWhereTheServerCloses) {
  for (const char* depth : {"1", "4"}) {
    start(ServerOptions());
    const Ended outcome =
        run({"-n", "20", "-c", "2", "--pipeline", depth, "-H", "Connection: close"});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(outcome.count("/answers"), 20U);
    EXPECT_EQ(counters().requests, 20U);
    EXPECT_EQ(outcome.count("/failures"), 0U);
    // A connection may be made for requests that another one has sent in the meantime.
    EXPECT_GE(outcome.count("/connections_made"), 20U);
    EXPECT_EQ(outcome.count("/reconnects"), outcome.count("/connections_made") - 2);
  }
}

TEST_F(BenchTest, SendsMethodFieldsAndContent) {
  const Ended outcome = run({"-n", "3", "--data", "some text", "-H", "X-Name: Ada L"}, "/echo");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(posted_, "some text");
  EXPECT_EQ(said_, "Ada L");
  const support::TemporaryDirectory folder;
  const std::string large(300'000, 'x');
  folder.write("large", large);
  EXPECT_EQ(
      run({"-n", "5", "-c", "2", "--pipeline", "2", "--data", "@" + folder.string() + "/large"},
          "/echo")
          .count("/statuses/2xx"),
      5U);
  EXPECT_EQ(posted_, large);
  EXPECT_EQ(run({"-n", "5", "-m", "HEAD"}).count("/statuses/2xx"), 5U);
}

TEST_F(BenchTest, SpeaksOverAUnixSocket) {
  const support::TemporaryDirectory folder;
  const std::string path = folder.string() + "/socket";
  Server server(router_, {.host = "unix:" + path, .threads = 1});
  ASSERT_TRUE(server.start());
  const Ended outcome = bench({"-n", "50", "--unix", path}, "http://example.com/");
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(server.counters().requests, 50U);
}

TEST_F(BenchTest, SpeaksOverTls) {
  ServerOptions options{.host = "127.0.0.1", .port = 0, .threads = 1};
  options.tls.self_signed = true;
  Server server(router_, options);
  if (!server.start()) GTEST_SKIP() << "built without OpenSSL";
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/";
  const Ended outcome = bench({"-n", "50", "-c", "3", "--insecure"}, url);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.count("/answers"), 50U);
  EXPECT_EQ(server.counters().requests, 50U);
  const Ended refused = bench({"-n", "50", "-c", "3"}, url);
  EXPECT_EQ(refused.code, 8) << "the certificate is not trusted";
  EXPECT_GE(refused.count("/errors/connect"), 3U) << "one may try again before the last fails";
}

TEST_F(BenchTest, SpeaksHttp2) {
  for (const char* streams : {"1", "8"}) {
    start(ServerOptions());
    const Ended outcome = run({"-n", "100", "-c", "3", "--http2", "--streams", streams});
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    EXPECT_EQ(outcome.count("/statuses/2xx"), 100U);
    EXPECT_EQ(counters().requests, 100U);
    EXPECT_EQ(outcome.count("/connections_made"), 3U);
  }
  const Ended posted =
      run({"-n", "3", "--http2", "--data", "some text", "-H", "X-Name: Ada"}, "/echo");
  EXPECT_EQ(posted.code, 0) << posted.errors;
  EXPECT_EQ(posted_, "some text");
  EXPECT_EQ(said_, "Ada");
}

TEST_F(BenchTest, AnInterruptEndsItAndItStillReports) {
  Process process({"bench", "--json", "-d", "600", "-c", "2", url_of(server_->port())});
  while (counters().requests < 50) std::this_thread::yield();
  process.signal(SIGINT);
  const Ended outcome = end_of(process, true);
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.count("/answers"), counters().requests);
}

TEST_F(BenchTest, AnInterruptedWarmupCountsNothing) {
  Process process(
      {"bench", "--json", "--warmup", "600", "-d", "1", "-c", "2", url_of(server_->port())});
  while (counters().requests < 50) std::this_thread::yield();
  process.signal(SIGINT);
  const Ended outcome = end_of(process, true);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.count("/answers"), 0U);
  EXPECT_GE(outcome.count("/warmup_answers"), 50U);
  EXPECT_EQ(outcome.report["elapsed_us"], 0.0);
}

TEST_F(BenchTest, ASecondInterruptWaitsForNoAnswer) {
  const BluntServer silent([](std::string_view) { return BluntServer::Answer{}; });
  Process process(
      {"bench", "--json", "-d", "600", "-c", "2", "--timeout", "600", url_of(silent.port())});
  while (silent.requests() < 2) std::this_thread::yield();
  process.signal(SIGINT);
  process.signal(SIGTERM);
  const Ended outcome = end_of(process, true);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.count("/failures"), 2U);
}

TEST(Bench, ServersThatMisbehaveAreCountedAndEnd) {
  struct Case {
    const char* kind;
    BluntServer::Answer answer;
  };
  const std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
  const std::vector<Case> cases = {
      {"read", {"", true}},
      {"read", {"HTTP/1.1 200", true}},
      {"read", {head + "half", true}},
      {"malformed", {"garbage\r\n\r\n", false}},
      {"malformed", {"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", false}},
      {"malformed", {head + "0123456789and more", false}},
      {"timeout", {"", false}},
      {"timeout", {head, false}},
  };
  for (const auto& [kind, answer] : cases) {
    const BluntServer server([&said = answer](std::string_view) { return said; });
    const char* const limit = std::string_view(kind) == "timeout" ? "0.2" : "20";
    const Ended outcome = bench({"-n", "6", "-c", "2", "--timeout", limit}, url_of(server.port()));
    EXPECT_EQ(outcome.code, 1) << answer.text;
    EXPECT_EQ(outcome.count(std::string("/errors/") + kind), outcome.count("/failures")) << kind;
    EXPECT_GE(outcome.count("/failures"), 3U) << answer.text;
    EXPECT_NE(outcome.errors.find(kind), std::string::npos) << outcome.errors;
    EXPECT_FALSE(outcome.report["first_errors"][kind].get<std::string>().empty());
    EXPECT_LT(outcome.report["bytes_received_per_second"], 1e9);
  }
}

TEST(Bench, AnswersOfEveryFramingAreUnderstood) {
  const std::vector<BluntServer::Answer> answers = {
      {"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", false},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false},
      {"HTTP/1.1 204 No Content\r\n\r\n", false},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", true},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", true},
  };
  for (const auto& answer : answers) {
    const BluntServer server([&answer](std::string_view) { return answer; });
    const Ended outcome = bench({"-n", "10", "-c", "2"}, url_of(server.port()));
    EXPECT_EQ(outcome.code, 0) << answer.text << outcome.errors;
    EXPECT_EQ(outcome.count("/statuses/2xx"), 10U) << answer.text;
    // A new connection may find that the other one has sent the last request in the meantime.
    EXPECT_GE(outcome.count("/reconnects"), answer.closes ? 8U : 0U) << answer.text;
    EXPECT_LE(outcome.count("/reconnects"), answer.closes ? 9U : 0U) << answer.text;
  }
}

TEST(Bench, NobodyThereIsAnExitCodeOfItsOwn) {
  const ClosedPort port;
  for (const Arguments& how :
       {Arguments{"-d", "30"}, Arguments{"-n", "1000000"}, Arguments{"-d", "30", "-r", "10"}}) {
    const Ended outcome = bench(how, url_of(port.number()));
    EXPECT_EQ(outcome.code, 7);
    EXPECT_EQ(outcome.count("/answers"), 0U);
    EXPECT_EQ(outcome.count("/connections_made"), 0U);
    EXPECT_NE(outcome.errors.find("refused"), std::string::npos) << outcome.errors;
    EXPECT_EQ(outcome.errors.find("WARNING"), std::string::npos) << outcome.errors;
  }
}

TEST(Bench, AnUnknownNameIsAnExitCodeOfItsOwn) {
  const Ended outcome = bench({"-n", "1", "-c", "1"}, "http://a..b/");
  EXPECT_EQ(outcome.code, 6) << outcome.errors;
  EXPECT_NE(outcome.errors.find("a..b"), std::string::npos) << outcome.errors;
}

TEST(Bench, SaysWhatMakesNoSense) {
  const std::string url = "http://127.0.0.1:1/";
  for (const Arguments& arguments :
       {Arguments{"bench"}, Arguments{"bench", "ftp://127.0.0.1/"},
        Arguments{"bench", "http://bad host/"}, Arguments{"bench", "-n", "1", "-d", "1", url},
        Arguments{"bench", "-t", "100000", url}, Arguments{"bench", "-c", "0", url},
        Arguments{"bench", "-m", "CONNECT", url}, Arguments{"bench", "-H", "no colon", url},
        Arguments{"bench", "-H", "bad name: x", url},
        Arguments{"bench", "-H", "Content-Length: 5", url},
        Arguments{"bench", "--rate", "nan", url}, Arguments{"bench", "-d", "nan", url},
        Arguments{"bench", "--data", "@/no/such/file", url}}) {
    Process process(arguments);
    const Ended outcome = end_of(process, false);
    EXPECT_EQ(outcome.code, 2) << arguments.back();
    EXPECT_EQ(outcome.output, "");
    EXPECT_NE(outcome.errors, "");
  }
}

TEST_F(BenchTest, PeopleReadAText) {
  Process process({"bench", "-n", "20", "-r", "1000", url_of(server_->port())});
  const Ended outcome = end_of(process, false);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.errors, "") << "only a terminal shows progress";
  for (const char* text : {"20 connections", "20 answered", "p99.9", "since due", "since sent",
                           "20 x 200", "errors      none", "CPU time"}) {
    EXPECT_NE(outcome.output.find(text), std::string::npos) << text << "\n" << outcome.output;
  }
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = outcome.output.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    EXPECT_LE(end - begin, 80U) << outcome.output.substr(begin, end - begin);
  }
}

// A listener with a full queue: the system ignores further connection attempts.
class BlackHole {
 public:
  BlackHole() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    listen(listener_, 0);
    socklen_t size = sizeof address;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    for (int& one : fillers_) {
      one = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      (void)!connect(one, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    }
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  ~BlackHole() {
    for (const int one : fillers_) close(one);
    close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int listener_;
  std::array<int, 4> fillers_{};
  std::uint16_t port_ = 0;
};

TEST(Bench, AServerThatNeverAnswersIsAnError) {
  const BlackHole hole;
  const Ended outcome = bench({"-d", "0.3", "-c", "2"}, url_of(hole.port()));
  EXPECT_EQ(outcome.code, 9) << outcome.errors;
  EXPECT_EQ(outcome.count("/errors/connect"), 2U);
  EXPECT_NE(outcome.errors.find("no connection before the test ended"), std::string::npos);
  EXPECT_TRUE(outcome.report["latency_us"].is_null());
}

TEST_F(BenchTest, WithoutAnAnswerThereAreNoLatencies) {
  const BluntServer silent([](std::string_view) { return BluntServer::Answer{}; });
  Process process({"bench", "-n", "2", "-c", "1", "--timeout", "0.1", url_of(silent.port())});
  const Ended outcome = end_of(process, false);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.output.find("0 ns"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("timeout: no response within the time limit"), std::string::npos);
}

TEST_F(BenchTest, EveryStatusCodeIsCounted) {
  EXPECT_EQ(run({"-n", "20"}, "/broken").count("/status_codes/500"), 20U);
  const Ended gone = run({"-n", "20"}, "/gone");
  EXPECT_EQ(gone.count("/status_codes/404"), 20U);
  EXPECT_EQ(gone.report["status_codes"].size(), 1U);
}

TEST_F(BenchTest, ARateThatIsNotReachedIsAFailure) {
  const Ended outcome = run({"-r", "1000", "-d", "1", "-c", "1"}, "/slow");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.errors.find("the rate was not reached: "), std::string::npos) << outcome.errors;
  EXPECT_FALSE(outcome.report["rate_was_reached"].get<bool>());
  const Ended counted = run({"-r", "1000", "-n", "30", "-c", "1"}, "/slow");
  EXPECT_EQ(counted.code, 1);
  EXPECT_TRUE(run({"-n", "5"}).report["rate_was_reached"].get<bool>());
}

}  // namespace
}  // namespace skua::test
