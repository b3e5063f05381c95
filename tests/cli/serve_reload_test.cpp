// SPDX-License-Identifier: MIT
// `skua serve` reads its files again on SIGHUP, while it serves.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/hashes.hpp"
#include "cli/process.hpp"
#include "cli/serve_fixture.hpp"
#include "serve/auth/password_hash.hpp"
#include "settings/settings_file.hpp"
#include "skua/credentials.hpp"
#include "xml/xml.hpp"

namespace skua::test {
namespace {

class ReloadTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    if (!cli::has_settings_files()) GTEST_SKIP() << "this build has no toml++";
  }
  std::string file(std::string_view name) const { return (configs_ / name).string(); }
  void start_with(const std::string& config, std::vector<std::string> more = {}) {
    configs_.write("f.toml", config);
    more.insert(more.end(), {"--config", file("f.toml")});
    start(std::move(more));
  }
  // Returns what the server says up to a line with this text.
  std::string reload(const std::string& config, const std::string& until = "reloaded") const {
    // Renamed, as editors do: the server never sees half a file.
    configs_.write("new", config);
    std::filesystem::rename(configs_ / "new", configs_ / "f.toml");
    process_->signal(SIGHUP);
    std::string said = process_->errors_until(until);
    EXPECT_NE(said.find(until), said.npos) << said;
    return said;
  }
  std::string version() const {
    const std::string response = get("/");
    const std::size_t at = response.find("\r\nX-V: ");
    return at == response.npos ? "" : response.substr(at + 7, 1);
  }

  support::TemporaryDirectory configs_;
};

TEST_F(ReloadTest, TakesTheNewOptionsOfTheSite) {
  start_with("header = ['X-V: 1']\n");
  EXPECT_EQ(version(), "1");
  EXPECT_EQ(status(get("/users")), "404");
  reload("header = ['X-V: 2']\nspa = true\ndeny = ['10.0.0.0/8']\n",
         "reloaded: 0 networks allowed, 1 denied");
  EXPECT_EQ(version(), "2");
  EXPECT_EQ(status(get("/users")), "200");
  reload("deny = ['127.0.0.1']\n");
  EXPECT_EQ(get("/"), "");
  reload("");
  EXPECT_EQ(status(get("/users")), "404");
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ReloadTest, AMistakeKeepsTheOldOptions) {
  start_with("header = ['X-V: 1']\n");
  const std::pair<std::string, std::string> mistakes[] = {
      {"header = ['X-V: 2']\nspam = true\n", ":2:1: unknown key 'spam', did you mean 'spa'?"},
      {"header = ['X-V: 2'\n", "/f.toml:1:"},
      {"header = ['X-V: 2']\nerror-page = ['404=none.html']\n", "--error-page: cannot read"},
      {"header = ['X-V: 2']\nredirect-http = 1\n", "--redirect-http: needs HTTPS"},
      {"header = ['X-V: 2']\ndeny = ['x']\n", "--deny: \"x\" is not a network"},
      {"header = ['X-V: 2']\ndeny = ['@/etc/hosts']\n", "does not let this server use /etc"},
      {"header = ['X-V: 2']\nauth = '/nowhere/users'\n", "skua: keeping"},
  };
  for (const auto& [config, problem] : mistakes) {
    const std::string said = reload(config, "keeping the old configuration: ");
    EXPECT_NE(said.find(problem), said.npos) << said;
    EXPECT_EQ(version(), "1");
  }
  reload("header = ['X-V: 2']\n");
  EXPECT_EQ(version(), "2");
}

// As at the start: nobody changes files from another machine without a login.
TEST_F(ReloadTest, KeepsTheLoginOfThoseWhoChangeFiles) {
  std::vector<std::string> features = {"upload"};
  if (xml::is_available()) features.emplace_back("webdav");
  for (const std::string& feature : features) {
    const std::string on = feature + " = true\n";
    start_with("header = ['X-V: 1']\n" + on + feature + "-anyone = true\n", {"--host", "0.0.0.0"});
    const std::string said = reload("header = ['X-V: 2']\n" + on, "keeping");
    EXPECT_NE(said.find("--" + feature + ": everyone"), said.npos) << said;
    EXPECT_EQ(version(), "1");
  }
}

TEST_F(ReloadTest, SaysIfAChangeNeedsARestart) {
  start_with("header = ['X-V: 1']\n");
  const std::string said = reload("header = ['X-V: 2']\nreuse-port = true\nno-http2 = true\n");
  EXPECT_NE(said.find("skua: a change of --no-http2 needs a restart\n"), said.npos) << said;
  EXPECT_NE(said.find("skua: a change of --reuse-port needs a restart\n"), said.npos) << said;
  EXPECT_EQ(said.find("--port "), said.npos) << said;
  EXPECT_EQ(version(), "2") << "the rest holds";
}

TEST_F(ReloadTest, TheCommandLineStillWins) {
  start_with("header = ['X-V: 1']\n", {"--header", "X-V: 9"});
  EXPECT_EQ(version(), "9");
  reload("header = ['X-V: 2']\nindex = 'a b.txt'\n");
  EXPECT_EQ(version(), "9");
  EXPECT_TRUE(get("/").ends_with("\r\n\r\nhello"));
}

TEST_F(ReloadTest, TakesAnotherFolderWithoutTheSandboxOnly) {
  configs_.write("other/index.html", "other");
  const auto arguments = [this](const char* more) {
    configs_.write("f.toml", "dir = '" + tree_.string() + "'\nport = 0\n" + more);
    process_ =
        std::make_unique<Process>(std::vector<std::string>{"serve", "--config", file("f.toml")});
    const std::string first = process_->line();
    port_ = static_cast<std::uint16_t>(std::stoul("0" + first.substr(first.rfind(':') + 1)));
  };
  const std::string other = "dir = '" + file("other") + "'\nport = 0\n";
  arguments("");
  EXPECT_NE(reload(other, "keeping").find("does not let this server use"), std::string::npos);
  EXPECT_TRUE(get("/").ends_with("<h1>home</h1>"));
  arguments("no-sandbox = true\n");
  reload(other + "no-sandbox = true\n");
  EXPECT_TRUE(get("/").ends_with("\r\n\r\nother"));
}

TEST_F(ReloadTest, ReadsTheUsersAgain) {
  if (!cli::has_password_hashes()) GTEST_SKIP() << "this build has no libcrypt";
  const auto status_as = [this](const std::string& user) {
    const std::string field = BasicCredentials{user, "secret"}.field().value();
    return status(ask("GET / HTTP/1.1\r\nAuthorization: " + field));
  };
  configs_.write("users", std::string("ada:") + hashes::bcrypt);
  start({"--auth", file("users")});
  EXPECT_EQ(status_as("ada"), "200");
  configs_.write("users", std::string("bob:") + hashes::bcrypt);
  EXPECT_EQ(status_as("bob"), "401");
  process_->signal(SIGHUP);
  process_->errors_until("reloaded");
  EXPECT_EQ(status_as("ada"), "401");
  EXPECT_EQ(status_as("bob"), "200");
}

TEST_F(ReloadTest, ADownloadEndsAsItBegan) {
  constexpr std::size_t huge_bytes = 32'000'000;  // more than buffers hold
  tree_.write("huge.bin", std::string(huge_bytes, 'x'));
  start_with("header = ['X-V: 1']\n");
  const Connection connection(port_);
  connection.send("GET /huge.bin HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  std::string response = connection.receive_some();
  reload("header = ['X-V: 2']\n");
  EXPECT_EQ(version(), "2");
  response += connection.receive();
  EXPECT_NE(response.find("\r\nX-V: 1\r\n"), response.npos);
  EXPECT_TRUE(response.ends_with("\r\n\r\n" + std::string(huge_bytes, 'x')));
}

TEST_F(ReloadTest, AnUploadInProgressIsKept) {
  start_with("upload = true\nheader = ['X-V: 1']\n");
  const Connection connection(port_);
  connection.send(
      "PUT /new.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      "Content-Length: 6\r\n\r\nabc");
  EXPECT_EQ(version(), "1");  // by now the upload has begun
  reload("upload = true\nheader = ['X-V: 2']\n");
  EXPECT_EQ(version(), "2");
  connection.send("def");
  const std::string response = connection.receive();
  EXPECT_TRUE(response.starts_with("HTTP/1.1 201 ")) << response;
  EXPECT_TRUE(get("/new.txt").ends_with("\r\n\r\nabcdef"));
}

// Sends requests on one connection until `is_over`; returns how many were not answered well.
std::size_t failures(std::uint16_t port, const std::atomic<bool>& is_over) {
  const Connection connection(port);
  std::size_t failed = 0;
  while (!is_over && failed == 0) {
    connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::string response;
    for (std::string more = " "; !more.empty() && !response.ends_with("<h1>home</h1>");) {
      more = connection.receive_some();
      response += more;
    }
    const bool is_good = response.starts_with("HTTP/1.1 200 ") &&
                         response.find("\r\nX-V: ") != response.npos &&
                         response.ends_with("<h1>home</h1>");
    if (!is_good) ++failed;
  }
  return failed;
}

TEST_F(ReloadTest, NoRequestFailsWhileItReloads) {
  start_with("header = ['X-V: 0']\n");
  std::atomic<bool> is_over = false;
  std::array<std::size_t, 4> failed{};
  std::vector<std::thread> clients;
  for (std::size_t& count : failed) {
    clients.emplace_back([&] { count = failures(port_, is_over); });
  }
  for (int i = 1; i <= 30; ++i) {
    reload("header = ['X-V: " + std::to_string(i % 10) + "']\n");
    EXPECT_EQ(version(), std::to_string(i % 10));
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(failed, (std::array<std::size_t, 4>{}));
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

}  // namespace
}  // namespace skua::test
