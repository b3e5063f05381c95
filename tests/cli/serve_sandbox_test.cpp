// SPDX-License-Identifier: MIT
// `skua serve` in its sandbox: what it says, that the kernel agrees, and that it still serves.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/process.hpp"
#include "support/backends.hpp"
#include "support/temporary_directory.hpp"
#include "support/tls_connection.hpp"
#include "tls/issue.hpp"

namespace skua::test {
namespace {

constexpr std::string_view complete = "no new privileges, Landlock ";
constexpr std::size_t large_bytes = 5'000'000;

class SandboxedServe : public ::testing::Test {
 protected:
  void SetUp() override {
    files_.write("www/small", "small");
    files_.write("www/large", std::string(large_bytes, 'x'));
    files_.write("www/folder/entry", "");
    files_.link("small", "www/link");
  }
  std::string file(std::string_view name) const { return (files_ / name).string(); }
  // Starts the server; `says_` becomes its second line, unless it is quiet.
  void start(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"serve", file("www"), "--port", "0", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_ = std::make_unique<Process>(arguments);
    const std::string first = process_->line();
    ASSERT_TRUE(first.starts_with("listening on ")) << first << process_->errors();
    port_ = static_cast<std::uint16_t>(std::stoul("0" + first.substr(first.rfind(':') + 1)));
  }
  // Starts the server and skips the test if its sandbox is not complete.
  void start_inside(const std::vector<std::string>& more = {}) {
    start(more);
    const std::string line = process_->line();
    ASSERT_TRUE(line.starts_with("sandbox: ")) << line;
    if (line.find("missing") != line.npos) GTEST_SKIP() << line;
    EXPECT_NE(line.find(complete), line.npos) << line;
    EXPECT_TRUE(line.ends_with(", seccomp")) << line;
  }
  std::string get(const std::string& target, const std::string& more = "") const {
    const Connection connection(port_);
    connection.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                    more + "\r\n");
    return connection.receive();
  }
  void expect_serves() const {
    EXPECT_TRUE(get("/small").ends_with("\r\n\r\nsmall"));
    EXPECT_TRUE(get("/link").ends_with("\r\n\r\nsmall"));
    EXPECT_TRUE(get("/large").ends_with(std::string(large_bytes, 'x')));
    EXPECT_TRUE(get("/large", "Range: bytes=2-5\r\n").ends_with("\r\n\r\nxxxx"));
    EXPECT_NE(get("/folder/").find("href=\"./entry\""), std::string::npos);
    EXPECT_TRUE(get("/none").starts_with("HTTP/1.1 404 "));
  }
  void end() {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0);
  }
  // The values of a line of /proc/PID/task/*/status, one for each thread.
  std::vector<std::string> of_threads(const std::string& name) const {
    std::vector<std::string> values;
    const std::string tasks = "/proc/" + std::to_string(process_->id()) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      std::ifstream status(task.path() / "status");
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":\t")) values.push_back(line.substr(name.size() + 2));
      }
    }
    return values;
  }
  void expect_of_threads(const std::string& name, const std::string& value) const {
    const std::vector<std::string> values = of_threads(name);
    EXPECT_GE(values.size(), 3U) << name;
    for (const std::string& found : values) EXPECT_EQ(found, value) << name;
  }

  support::TemporaryDirectory files_;
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
};

class SandboxedBackend : public SandboxedServe,
                         public ::testing::WithParamInterface<BackendChoice> {};

TEST_P(SandboxedBackend, ServesEverything) {
  start_inside({"--backend", std::string(to_string(GetParam()))});
  if (IsSkipped() || HasFatalFailure()) return;
  expect_serves();
  for (int i = 0; i < 300; ++i) files_.write("www/many/" + std::to_string(i), "");
  EXPECT_NE(get("/many/").find("href=\"./299\""), std::string::npos);
  expect_of_threads("NoNewPrivs", "1");
  expect_of_threads("Seccomp", "2");
  end();
}

INSTANTIATE_TEST_SUITE_P(Backends, SandboxedBackend,
                         ::testing::ValuesIn(testing::backends(
                             {BackendChoice::Epoll, BackendChoice::IoUring, BackendChoice::Poll})),
                         testing::backend_name);

TEST_F(SandboxedServe, ReportsACrash) {
  start_inside();
  if (IsSkipped() || HasFatalFailure()) return;
  expect_serves();
  process_->signal(SIGSEGV);
  EXPECT_EQ(process_->wait(), 128 + SIGSEGV);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: SIGSEGV\n"), errors.npos) << errors;
}

TEST_F(SandboxedServe, CanBeTurnedOff) {
  start({"--no-sandbox", "--access-log"});
  expect_serves();
  EXPECT_NE(process_->line().find("\"GET /small HTTP/1.1\" 200"), std::string::npos);
  expect_of_threads("NoNewPrivs", "0");
  expect_of_threads("Seccomp", "0");
  end();
}

TEST_F(SandboxedServe, SaysNothingIfQuietButHolds) {
  start({"--quiet", "--access-log"});
  expect_serves();
  EXPECT_NE(process_->line().find("\"GET /small HTTP/1.1\" 200"), std::string::npos);
  EXPECT_EQ(of_threads("NoNewPrivs").front(), "1");
  end();
}

TEST_F(SandboxedServe, RemovesItsSocket) {
  const std::string socket = file("socket");
  start_inside({"--host", "unix:" + socket});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_TRUE(std::filesystem::exists(socket));
  end();
  EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST_F(SandboxedServe, WritesUploadsAndNothingElse) {
  start_inside({"--upload=folder", "--upload-overwrite"});
  if (IsSkipped() || HasFatalFailure()) return;
  const auto put = [this](const std::string& target, const std::string& content) {
    const Connection connection(port_);
    connection.send("PUT " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                    "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content);
    return connection.receive().substr(0, 13);
  };
  EXPECT_EQ(put("/folder/new", "new"), "HTTP/1.1 201 ");
  EXPECT_TRUE(get("/folder/new").ends_with("\r\n\r\nnew"));
  EXPECT_EQ(put("/folder/entry", std::string(large_bytes, 'y')), "HTTP/1.1 204 ");
  EXPECT_TRUE(get("/folder/entry").ends_with(std::string(large_bytes, 'y')));
  EXPECT_EQ(put("/new", "new"), "HTTP/1.1 405 ");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file("www/folder")), {}), 2);
  expect_serves();
  end();
}

TEST_F(SandboxedServe, ReadsListsThatWereReplaced) {
  files_.write("lists/deny", "");
  start_inside({"--deny", "@" + file("lists/deny")});
  if (IsSkipped() || HasFatalFailure()) return;
  expect_serves();
  files_.write("lists/new", "127.0.0.0/8\n");
  std::filesystem::rename(file("lists/new"), file("lists/deny"));
  process_->signal(SIGHUP);
  const std::string said = process_->errors_until("reloaded: ");
  EXPECT_NE(said.find("reloaded: 0 networks allowed, 1 denied"), said.npos) << said;
  EXPECT_EQ(get("/small"), "");
  end();
}

TEST_F(SandboxedServe, ReadsCertificatesThatWereReplacedAndRedirects) {
  const auto write = [this](const std::string& folder) {
    const auto made = tls::issue({.common_name = "server", .hosts = {"127.0.0.1"}});
    if (!made) return std::string();
    files_.write(folder + "/cert", made->certificate);
    files_.write(folder + "/key", made->private_key);
    return made->fingerprint;
  };
  if (write("first").empty()) GTEST_SKIP() << "built without OpenSSL";
  files_.make("live");
  files_.link("../first/cert", "live/cert");
  files_.link("../first/key", "live/key");
  start_inside(
      {"--tls-cert", file("live/cert"), "--tls-key", file("live/key"), "--redirect-http", "0"});
  if (IsSkipped() || HasFatalFailure()) return;
  const std::string redirecting = process_->errors_until("redirecting ");
  const std::size_t colon = redirecting.rfind(':');
  const Connection plain(static_cast<std::uint16_t>(std::stoul(redirecting.substr(colon + 1))));
  plain.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(plain.receive().starts_with("HTTP/1.1 308 "));

  // Not links: each file now stands in the folder that was named.
  const std::string fingerprint = write("second");
  std::filesystem::rename(file("second/cert"), file("live/cert"));
  std::filesystem::rename(file("second/key"), file("live/key"));
  process_->signal(SIGHUP);
  const std::string said = process_->errors_until("TLS: ");
  EXPECT_NE(said.find("TLS: certificates reloaded"), said.npos) << said;
  testing::TlsConnection secure(port_, {.insecure = true});
  EXPECT_EQ(secure.engine().peer_certificate().fingerprint, fingerprint);
  EXPECT_TRUE(secure.ask("GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                  .ends_with("\r\n\r\nsmall"));
  end();
}

TEST_F(SandboxedServe, BecomesAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  start({"--user", "54321:54322"});
  const std::string line = process_->line();
  EXPECT_TRUE(line.starts_with("sandbox: user 54321, ")) << line;
  expect_serves();
  expect_of_threads("Uid", "54321\t54321\t54321\t54321");
  expect_of_threads("Gid", "54322\t54322\t54322\t54322");
  expect_of_threads("Groups", "54322 ");
  expect_of_threads("CapEff", "0000000000000000");
  expect_of_threads("CapPrm", "0000000000000000");
  files_.write("www/hidden", "not for others");
  ::chmod(file("www/hidden").c_str(), 0600);
  EXPECT_TRUE(get("/hidden").starts_with("HTTP/1.1 40")) << get("/hidden");
  end();
}

TEST_F(SandboxedServe, BecomesAnotherUserWithoutASandboxToo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  start({"--user", "54321:54322", "--no-sandbox"});
  expect_of_threads("Uid", "54321\t54321\t54321\t54321");
  end();
}

TEST_F(SandboxedServe, ListensBeforeItBecomesTheUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  files_.make("sockets");  // in which the other user cannot make files
  start({"--user", "54321:54322", "--host", "unix:" + file("sockets/socket")});
  EXPECT_TRUE(std::filesystem::exists(file("sockets/socket")));
  end();
}

TEST_F(SandboxedServe, SaysWhyItCannotBecomeAUser) {
  Process process({"serve", file("www"), "--port", "0", "--user", "no-such-user"});
  EXPECT_EQ(process.line(), "");
  EXPECT_EQ(process.errors(), "skua: --user: there is no user \"no-such-user\"\n");
  EXPECT_EQ(process.wait(), 1);
}

TEST_F(SandboxedServe, PrintsItsSettings) {
  Process process({"serve", file("www"), "--user", "web", "--no-sandbox", "--print-config"});
  const std::string text = process.output();
  EXPECT_NE(text.find("\nuser = \"web\"\n"), text.npos) << text;
  EXPECT_NE(text.find("\nno-sandbox = true\n"), text.npos) << text;
}

}  // namespace
}  // namespace skua::test
