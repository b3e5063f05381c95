// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "support/temporary_directory.hpp"

namespace skua::test {

/// Sets a variable for the processes that are started meanwhile.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

/// Runs `skua serve` on a folder, and asks it.
class ServeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.write("index.html", "<h1>home</h1>");
    tree_.write("a b.txt", "hello");
    tree_.write("large.bin", std::string(300'000, 'x'));
    tree_.write(".env", "secret");
    tree_.write("plain/c.txt", "c");
    tree_.link("index.html", "link.html");
  }
  void start(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"serve", tree_.string(), "--port", "0", "--threads", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    process_ = std::make_unique<Process>(std::move(arguments));
    const std::string first = process_->line();
    ASSERT_TRUE(first.starts_with("listening on http")) << first;
    port_ = static_cast<std::uint16_t>(std::stoul(first.substr(first.rfind(':') + 1)));
  }
  std::string ask(const std::string& head) const {
    const Connection connection(port_);
    connection.send(head + "\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    return connection.receive();
  }
  std::string get(const std::string& target) const { return ask("GET " + target + " HTTP/1.1"); }
  static std::string status(const std::string& response) { return response.substr(9, 3); }

  support::TemporaryDirectory tree_;
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
};

}  // namespace skua::test
