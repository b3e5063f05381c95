// SPDX-License-Identifier: MIT
// The access log of `skua serve`: rotated, blocked, on a full disk, and under hostile requests.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cli/serve_fixture.hpp"

namespace skua::test {
namespace {

class ServeLog : public ServeTest {
 protected:
  std::string log(std::string_view name) const { return (logs_ / name).string(); }
  std::vector<std::string> lines(std::string_view name) const {
    std::vector<std::string> all;
    std::ifstream file(log(name));
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  }
  void end() const {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0);
  }
  // Sends requests for /?FIRST to /?LAST on one connection, and reads all responses.
  void ask_many(int first, int last) const {
    const Connection connection(port_);
    for (int i = first; i <= last; ++i) {
      connection.send("GET /?" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n" +
                      (i == last ? "Connection: close\r\n" : "") + "\r\n");
      if (i == last) break;
      std::string response;
      while (response.find("</h1>") == response.npos) {
        const std::string more = connection.receive_some();
        if (more.empty()) return;
        response += more;
      }
    }
    static_cast<void>(connection.receive());
  }

  support::TemporaryDirectory logs_;
};

TEST_F(ServeLog, TellsThatTheFolderWasReplaced) {
  const std::filesystem::path site = logs_ / "site";
  std::filesystem::create_directory(site);
  process_ = std::make_unique<Process>(
      std::vector<std::string>{"serve", site.string(), "--port", "0", "--quiet"});
  const std::string first = process_->line();
  port_ = static_cast<std::uint16_t>(std::stoul(first.substr(first.rfind(':') + 1)));
  std::filesystem::remove(site);
  EXPECT_EQ(status(get("/a")), "503");
  EXPECT_NE(process_->errors_until("is gone").find("is gone"), std::string::npos);
}

TEST_F(ServeLog, WritesTheFileAndNothingOnItsOutput) {
  start({"--log", log("log"), "--quiet"});
  EXPECT_TRUE(get("/?q=1").starts_with("HTTP/1.1 200"));
  end();
  EXPECT_EQ(process_->output(), "");
  const std::vector<std::string> all = lines("log");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_TRUE(all[0].ends_with(R"("GET /?q=1 HTTP/1.1" 200 13 "-" "-")")) << all[0];
}

TEST_F(ServeLog, NamesWhoLoggedIn) {
  const Environment login("SKUA_AUTH", "ada l:pw");
  start({"--log", log("log"), "--log-format", "$user $status"});
  ask("GET / HTTP/1.1");
  ask("GET / HTTP/1.1\r\nAuthorization: Basic YWRhIGw6cHc=");
  end();
  EXPECT_EQ(lines("log"), (std::vector<std::string>{"- 401", R"(ada\x20l 200)"}));
}

TEST_F(ServeLog, EachRequestHasOneLineWhileTheLogIsRotated) {
  start({"--log", log("log"), "--log-format", "$target"});
  constexpr int connections = 4;
  constexpr int requests = 50;
  std::vector<std::thread> clients;
  for (int i = 0; i < connections; ++i) {
    clients.emplace_back([this, i] { ask_many(i * requests + 1, (i + 1) * requests); });
  }
  std::vector<std::string> names = {"log"};
  for (int i = 0; i < 20; ++i) {
    names.push_back("log." + std::to_string(i));
    std::filesystem::rename(log("log"), log(names.back()));
    process_->signal(SIGUSR1);
    while (!std::filesystem::exists(log("log"))) std::this_thread::yield();
  }
  for (std::thread& client : clients) client.join();
  end();
  std::map<std::string, int> counts;
  for (const std::string& name : names) {
    for (const std::string& line : lines(name)) ++counts[line];
  }
  EXPECT_EQ(counts.size(), std::size_t{connections} * requests);
  for (const auto& [line, count] : counts) EXPECT_EQ(count, 1) << line;
  EXPECT_EQ(process_->errors().find("access log"), std::string::npos);
}

TEST_F(ServeLog, LosesNoLineWhenItReloads) {
  logs_.write("deny", "10.0.0.0/8\n");
  start({"--log", log("log"), "--log-format", "$target", "--deny", "@" + log("deny")});
  std::thread client([this] { ask_many(1, 200); });
  for (int i = 0; i < 5; ++i) {
    process_->signal(SIGHUP);
    EXPECT_NE(process_->errors_until("reloaded").find("reloaded"), std::string::npos);
  }
  client.join();
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
  std::vector<std::string> expected;
  for (int i = 1; i <= 200; ++i) expected.push_back("/?" + std::to_string(i));
  EXPECT_EQ(lines("log"), expected);
}

TEST_F(ServeLog, ARemovedFolderIsToldOnceForEachRotation) {
  logs_.make("folder");
  start({"--log", log("folder/log")});
  std::filesystem::remove_all(log("folder"));
  process_->signal(SIGUSR1);
  EXPECT_NE(process_->errors_until("old file").find("again: No such file"), std::string::npos);
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200"));
  end();
}

TEST_F(ServeLog, AFullDiskStopsNobody) {
  start({"--log", "/dev/full", "--quiet"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(get("/").starts_with("HTTP/1.1 200"));
  end();
  EXPECT_EQ(process_->errors(),
            "skua: cannot write to the access log (/dev/full): No space left on device; dropping "
            "its lines\n"
            "skua: 3 lines were lost: the access log (/dev/full) is incomplete\n");
}

TEST_F(ServeLog, AReaderThatNeverReadsStopsNobody) {
  ::mkfifo(log("pipe").c_str(), 0600);
  const int reader = ::open(log("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  start({"--log", log("pipe"), "--quiet"});
  // A line has the first 1,024 bytes of both fields, four characters for each. These lines are
  // longer than the queue and the batch that its writer has taken from it, 16 MiB each.
  const std::string request =
      "GET / HTTP/1.1\r\nHost: localhost\r\nReferer: " + std::string(1024, '\x80') +
      "\r\nUser-Agent: " + std::string(1024, '\x80') + "\r\n\r\n";
  constexpr int requests = 4'200;
  int answered = 0;
  const Connection connection(port_);
  for (int i = 0; i < requests; ++i) {
    connection.send(request);
    if (connection.receive_some().starts_with("HTTP/1.1 200")) ++answered;
  }
  EXPECT_EQ(answered, requests);
  const std::string said = process_->errors_until("cannot keep up");
  EXPECT_NE(said.find(" lost so far"), said.npos) << said;
  ::close(reader);
  end();
  EXPECT_NE(process_->errors().find(" is incomplete"), std::string::npos);
}

TEST_F(ServeLog, IsJsonWhateverClientsSend) {
  start({"--log", log("log"), "--log-format", "json", "--quiet"});
  std::mt19937 random(7);  // NOLINT: the same bytes in each run
  const auto bytes = [&random](std::size_t most) {
    std::string text(random() % most, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  constexpr std::size_t requests = 500;
  for (std::size_t i = 0; i < requests; ++i) {
    const Connection connection(port_);
    connection.send("GET /" + bytes(i % 2 == 0 ? 2 : 20) +
                    " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: " + bytes(30) +
                    "\r\nReferer: \"\\\x1b" + bytes(10) + "\r\nConnection: close\r\n\r\n");
    connection.end_input();
    static_cast<void>(connection.receive());
  }
  end();
  std::size_t count = 0;
  for (const std::string& line : lines("log")) {
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << line;
    EXPECT_TRUE(parsed.contains("status")) << line;
    EXPECT_TRUE(std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7F; })) << line;
    ++count;
  }
  EXPECT_GE(count, requests);  // some become two: a bad one, and its rest
}

TEST_F(ServeLog, SaysWhatIsWrongWithItsOptions) {
  const auto errors = [this](std::vector<std::string> more, int code) {
    more.insert(more.begin(), {"serve", tree_.string(), "--port", "0"});
    Process process(more);
    std::string text = process.errors();
    EXPECT_EQ(process.wait(), code);
    return text;
  };
  EXPECT_NE(errors({"--log-format", "$what"}, 2).find("no word $what; the words are $address"),
            std::string::npos);
  EXPECT_TRUE(errors({"--log-format", "json"}, 1).starts_with("skua: --log-format needs --log"));
  EXPECT_NE(errors({"--log", "x", "--access-log"}, 2).find("cannot be used together"),
            std::string::npos);
  EXPECT_TRUE(errors({"--log", log("none/log")}, 1).starts_with("skua: --log: cannot open "));
  const std::string served = (tree_ / "log").string();
  EXPECT_TRUE(
      errors({"--log", served}, 1).starts_with("skua: --log: " + served + " is in the served"));
  EXPECT_FALSE(std::filesystem::exists(served));
  logs_.link(served, "dangling");
  EXPECT_NE(errors({"--log", log("dangling")}, 1).find("No such file"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(served));
  logs_.link((tree_ / "index.html").string(), "link");
  EXPECT_NE(errors({"--log", log("link")}, 1).find(" is in the served folder"), std::string::npos);
}

}  // namespace
}  // namespace skua::test
