// SPDX-License-Identifier: MIT
// `skua serve --admin`: what operators and their tools see, in the sandbox.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"

namespace skua::test {
namespace {

class ServeAdmin : public ServeTest {
 protected:
  // Starts the server with an admin listener on a free port.
  void start_admin(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--admin", "0"});
    start(std::move(more));
    const std::string line = process_->line();
    constexpr std::string_view begin = "admin on http://127.0.0.1:";
    ASSERT_TRUE(line.starts_with(begin)) << line;
    admin_port_ = static_cast<std::uint16_t>(std::stoul(line.substr(begin.size())));
  }
  std::string ask_admin(const std::string& target) const {
    const Connection connection(admin_port_);
    connection.send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return connection.receive();
  }

  std::uint16_t admin_port_ = 0;
};

TEST_F(ServeAdmin, HasMetricsAndHealth) {
  start_admin();
  EXPECT_EQ(status(get("/")), "200");
  EXPECT_EQ(status(ask_admin("/livez")), "200");
  EXPECT_TRUE(ask_admin("/readyz").ends_with("\r\n\r\n[+] server: ok\nready\n"));
  const std::string metrics = ask_admin("/metrics");
  EXPECT_NE(metrics.find("method=\"GET\",status=\"2xx\"} 1\n"), metrics.npos) << metrics;
  EXPECT_NE(metrics.find("\nprocess_cpu_seconds_total "), metrics.npos);
#if defined(__linux__)
  EXPECT_NE(metrics.find("\nprocess_resident_memory_bytes "), metrics.npos) << "in the sandbox";
#endif
  EXPECT_NE(ask_admin("/").find("Ready"), std::string::npos);
  EXPECT_EQ(status(ask_admin("/index.html")), "404") << "the files are elsewhere";
  EXPECT_EQ(status(get("/metrics")), "404") << "not for everyone";
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ServeAdmin, MayBeAUnixSocket) {
  support::TemporaryDirectory sockets;
  const std::string path = (sockets / "admin").string();
  start({"--admin", "unix:" + path});
  EXPECT_EQ(process_->line(), "admin on unix:" + path);
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
  EXPECT_FALSE(std::filesystem::exists(path)) << "removed in the end";
}

TEST_F(ServeAdmin, RefusesWhatIsNoPlace) {
  for (const std::string place : {"", "x", "70000", "127.0.0.1:", "127.0.0.1:x", "-1"}) {
    Process process({"serve", tree_.string(), "--port", "0", "--admin=" + place});
    EXPECT_EQ(process.wait(), 2) << place;
    EXPECT_NE(process.errors().find("--admin"), std::string::npos) << process.errors();
  }
  Process process({"serve", tree_.string(), "--port", "0", "--admin", "192.0.2.1:0"});
  EXPECT_EQ(process.wait(), 1) << "an address of another machine";
  EXPECT_NE(process.errors().find("192.0.2.1"), std::string::npos) << process.errors();
}

}  // namespace
}  // namespace skua::test
