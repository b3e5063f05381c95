// SPDX-License-Identifier: MIT
// The status line of `skua serve`: its text, and what a terminal gets.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "serve/status/response_tally.hpp"
#include "serve/status/status_line.hpp"

namespace skua::test {
namespace {

using cli::ResponseTally;
using cli::StatusLine;
using namespace std::chrono_literals;

constexpr StatusLine::Time begin{};

Counters counters(std::uint64_t responses, std::uint64_t bytes, std::uint64_t open) {
  return {.connections_accepted = open,
          .connections_open = open,
          .responses = responses,
          .bytes_sent = bytes};
}

TEST(StatusLine, HasRatesAndConnections) {
  const ResponseTally tally;
  StatusLine line(false);
  EXPECT_EQ(line.text(tally, 80).text, "");
  line.sample(counters(0, 0, 0), begin);
  EXPECT_EQ(line.text(tally, 80).text, "");
  line.sample(counters(10, 1024, 2), begin + 500ms);
  EXPECT_EQ(line.text(tally, 80).text, "20 req/s  2.0 KiB/s  2 open");
  line.sample(counters(1'234'510, 1024, 1234), begin + 1s);
  EXPECT_EQ(line.text(tally, 80).text, "1,234,510 req/s  1.0 KiB/s  1,234 open");
  line.sample(counters(1'234'510, 1024, 1), begin + 1500ms);
  line.sample(counters(1'234'510, 1024, 1), begin + 2s);
  EXPECT_EQ(line.text(tally, 80).text, "0 req/s  0 B/s  1 open");
}

TEST(StatusLine, CountsErrorsAndNamesTheSlowest) {
  ResponseTally tally;
  tally.add({.target = "/slow", .status = Status::NotFound, .duration = 1234us});
  tally.add({.target = "/quick", .status = Status::BadGateway, .duration = 12us});
  tally.add({.status = Status::BadRequest, .duration = 1h});  // names nothing
  StatusLine plain(false);
  plain.sample(counters(3, 0, 1), begin);
  const std::string text = plain.text(tally, 80).text;
  EXPECT_EQ(text, "0 req/s  0 B/s  1 open  2 x 4xx  1 x 5xx  slowest 1.23 ms GET /slow");
  StatusLine coloured(true);
  coloured.sample(counters(3, 0, 1), begin);
  const cli::StatusText made = coloured.text(tally, 80);
  EXPECT_NE(made.text.find("\x1b[33m2 x 4xx\x1b[0m"), std::string::npos) << made.text;
  EXPECT_EQ(made.width, text.size());
}

TEST(StatusLine, IsCutToTheTerminal) {
  ResponseTally tally;
  const std::string target = "/" + std::string(5000, 'x');
  tally.add({.target = target, .duration = 1s});
  for (const bool has_colours : {false, true}) {
    StatusLine line(has_colours);
    line.sample(counters(3, 0, 1), begin);
    for (std::size_t columns = 2; columns < 200; ++columns) {
      EXPECT_LT(line.text(tally, columns).width, columns);
    }
  }
  StatusLine line(false);
  line.sample(counters(3, 0, 1), begin);
  EXPECT_EQ(line.text(tally, 50).text, "0 req/s  0 B/s  1 open  slowest 1.00 s GET /xxxx~");
  EXPECT_EQ(line.text(tally, 10).text, "0 req/s");
  EXPECT_EQ(line.text(tally, 6).text, "0 re~");
}

TEST(ResponseTally, EscapesTargetsAndForgetsOldOnes) {
  ResponseTally tally;
  EXPECT_FALSE(tally.slowest());
  tally.add({.target = "/\x1b]0;x\x07\n\xe2\x80\xae", .duration = 5ms});
  EXPECT_EQ(tally.slowest()->text, R"(GET /\x1B]0;x\x07\x0A\xE2\x80\xAE)");
  tally.add({.target = "/b", .duration = 4ms});
  EXPECT_EQ(tally.slowest()->duration, 5ms);
  tally.next_period();
  tally.add({.target = "/c", .duration = 3ms});
  EXPECT_EQ(tally.slowest()->duration, 5ms);
  tally.next_period();
  EXPECT_EQ(tally.slowest()->text, "GET /c");
  tally.next_period();
  EXPECT_FALSE(tally.slowest());
}

class ServeStatus : public ServeTest {
 protected:
  // Starts a server whose stderr is a terminal.
  void start_on_terminal(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"serve", tree_.string(), "--port", "0", "--threads", "2"});
    process_ = std::make_unique<Process>(more, Process::With::Errors);
    const std::string first = process_->line();
    port_ = static_cast<std::uint16_t>(std::stoul("0" + first.substr(first.rfind(':') + 1)));
  }
  // Returns the output of the terminal after a request, up to the end of the server.
  std::string shown_after(const std::string& part) {
    EXPECT_TRUE(get("/none").starts_with("HTTP/1.1 404"));
    std::string all = part.empty() ? "" : process_->errors_up_to(part);
    process_->signal(SIGINT);
    all += process_->errors();
    EXPECT_EQ(process_->wait(), 0);
    return all;
  }
};

TEST_F(ServeStatus, ShowsALineAndLeavesACleanTerminal) {
  const Environment no_colour("NO_COLOR", "1");
  start_on_terminal();
  const std::string all = shown_after("GET /none");
  EXPECT_NE(all.find("1 x 4xx  slowest "), all.npos) << all;
  const std::string last = "stopping after the requests in progress";
  const std::size_t stopping = all.find(last);
  ASSERT_NE(stopping, all.npos) << all;
  EXPECT_EQ(all.substr(stopping - 4, 4), "\r\x1b[J") << all;
  EXPECT_TRUE(all.ends_with("at once\r\n") || all.ends_with("\x1b[J")) << all;
  EXPECT_EQ(all.find("\x1b["), all.find("\x1b[J"));  // no colours
}

TEST_F(ServeStatus, FollowsTheWidthOfTheTerminal) {
  start_on_terminal();
  process_->resize_errors(20);
  EXPECT_TRUE(get("/" + std::string(100, 'x')).starts_with("HTTP/1.1 404"));
  std::string all = process_->errors_up_to(" req/s");
  process_->signal(SIGINT);
  all += process_->errors();
  EXPECT_EQ(all.find("slowest"), all.npos) << all;
  EXPECT_EQ(process_->wait(), 0);
}

// Absence takes a time to see: all of them run meanwhile.
TEST_F(ServeStatus, IsNotShownIfItWouldDisturb) {
  std::vector<std::unique_ptr<Process>> silent;
  const auto add = [&](const std::vector<std::string>& more) {
    start_on_terminal(more);
    EXPECT_TRUE(get("/none").starts_with("HTTP/1.1 404"));
    silent.push_back(std::move(process_));
  };
  {
    const Environment dumb("TERM", "dumb");
    add({});
  }
  add({"--no-status"});
  add({"--quiet"});
  add({"--log", "/dev/stderr"});
  start_on_terminal();
  EXPECT_TRUE(get("/none").starts_with("HTTP/1.1 404"));
  process_->errors_up_to(" req/s");
  for (const auto& process : silent) {
    process->signal(SIGINT);
    EXPECT_EQ(process->errors().find(" req/s"), std::string::npos);
    EXPECT_EQ(process->wait(), 0);
  }
}

}  // namespace
}  // namespace skua::test
