// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "skua.hpp"
#include "support/scripted_server.hpp"
#include "support/test_server.hpp"

namespace skua::testing {

/// A proxy on the back end and the transport under test, in front of a server without TLS: `/api`
/// is passed on. If the transport is encrypted, the upstream server is spoken to in HTTP/2, so that
/// the transports are all pairs of versions.
class ProxyTest : public ::testing::TestWithParam<BackendChoice> {
 protected:
  ~ProxyTest() override {
    front_.reset();  // before what its tasks refer to
    upstream_.reset();
  }

  /// The upstream server; its routes are complete once this is called.
  TestServer& upstream() {
    if (!upstream_) {
      upstream_ = std::make_unique<TestServer>(upstream_router_, BackendChoice::Auto,
                                               upstream_options_, Transport::Tcp);
    }
    return *upstream_;
  }
  TestServer& front(std::string_view path = {}) {
    if (testing::is_secure()) proxy_options_.versions = HttpVersions::Http2;
    return front_to("http://127.0.0.1:" + std::to_string(upstream().port()) + std::string(path));
  }
  TestServer& front_to(std::string_view url) {
    if (front_) return *front_;
    reverse_proxy(router_, "/api", url, proxy_options_);
    options_.hooks.log = [this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.append(line).append("\n");
    };
    front_ = std::make_unique<TestServer>(router_, GetParam(), options_);
    return *front_;
  }
  /// A proxy in front of a server that does what a test says.
  Client connect_to(ScriptedServer& server) {
    return front_to("http://127.0.0.1:" + std::to_string(server.port())).connect();
  }
  /// The next front is another server.
  void reset_front() {
    front_.reset();
    router_ = Router();
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  Router upstream_router_;
  ServerOptions upstream_options_;
  Router router_;
  ServerOptions options_;
  ReverseProxyOptions proxy_options_;

 private:
  std::mutex mutex_;
  std::string log_;
  std::unique_ptr<TestServer> upstream_;
  std::unique_ptr<TestServer> front_;
};

/// Returns how many bytes the buffers of Linux may hold between a client and a server behind a
/// proxy: they grow while a reader is slow. 0 on other systems, which say nothing about theirs.
inline std::size_t most_in_buffers() {
  std::size_t bytes = 0;
  for (const char* const path : {"/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"}) {
    std::ifstream file(path);
    std::size_t most = 0;  // the last of three numbers
    for (int i = 0; i < 3; ++i) file >> most;
    // For two connections; limits that are larger would make tests slow.
    if (file) bytes += 2 * std::min(most, 64_MiB);
  }
  return bytes;
}

/// Reads the head of a request from a client of a scripted server.
inline std::string read_head(Client& client, std::string& rest) {
  while (rest.find("\r\n\r\n") == rest.npos) {
    const std::string more = client.some();
    if (more.empty()) break;
    rest.append(more);
  }
  const std::size_t end = rest.find("\r\n\r\n");
  if (end == rest.npos) return std::exchange(rest, {});
  std::string head = rest.substr(0, end + 4);
  rest.erase(0, end + 4);
  return head;
}
inline std::string read_head(Client& client) {
  std::string rest;
  return read_head(client, rest);
}

}  // namespace skua::testing
