// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua::test {

inline ::testing::AssertionResult contains(const std::string& text, std::string_view part) {
  if (text.find(part) != text.npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}

/// The outcome of a command.
struct Ended {
  std::string output;
  std::string errors;
  int code = -1;
};

/// A server, and `skua get` and its siblings running in a folder of their own.
class GetFixture : public ::testing::Test {
 protected:
  GetFixture() {
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) unsetenv(name);
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    // No test reads the files of who runs it.
    setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    unsetenv("SKUA_CONFIG");
  }

  void start_server(ServerOptions options = {}) {
    server_ = std::make_unique<testing::TestServer>(router_, BackendChoice::Auto,
                                                    std::move(options), testing::Transport::Tcp);
  }
  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + path;
  }
  /// Runs a command to its end.
  Ended run(std::vector<std::string> words, Process::With with = Process::With::Output) const {
    return end(start(std::move(words), with));
  }
  std::unique_ptr<Process> start(std::vector<std::string> words,
                                 Process::With with = Process::With::Output) const {
    return std::make_unique<Process>(std::move(words), with, folder_.string());
  }
  static Ended end(const std::unique_ptr<Process>& process) {
    Ended ended;
    ended.output = process->output();
    ended.errors = process->errors();
    ended.code = process->wait();
    return ended;
  }
  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(folder_ / name);
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  support::TemporaryDirectory folder_;
  Router router_;
  std::unique_ptr<testing::TestServer> server_;
};

}  // namespace skua::test
