// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "skua.hpp"
#include "support/run_on.hpp"
#include "support/test_server.hpp"
#include "tls/issue.hpp"

namespace skua::testing {

/// The protocol between client and server.
enum class Wire : std::uint8_t { Http, Https, Http2, Http2Tls };

inline bool is_secure(Wire wire) { return wire == Wire::Https || wire == Wire::Http2Tls; }

/// A client on the back end under test, and a server that it trusts.
class ClientTest : public ::testing::TestWithParam<std::tuple<BackendChoice, Wire>> {
 protected:
  void SetUp() override {
    const bool is_http2 = wire() == Wire::Http2 || wire() == Wire::Http2Tls;
    options_.versions = is_http2 ? HttpVersions::Http2 : HttpVersions::Http1;
    if (!is_secure(wire())) return;
    static const auto issued = tls::make_self_signed({});
    if (!issued) GTEST_SKIP() << issued.error().text;
    server_options_.tls.certificate = issued->certificate;
    server_options_.tls.private_key = issued->private_key;
    options_.tls.authorities = issued->certificate;
  }
  [[nodiscard]] static Wire wire() { return std::get<1>(GetParam()); }
  [[nodiscard]] static BackendChoice backend() { return std::get<0>(GetParam()); }

  TestServer& server() {
    if (server_ == nullptr) {
      server_ = std::make_unique<TestServer>(router_, BackendChoice::Auto, server_options_,
                                             is_secure(wire()) ? Transport::Tls : Transport::Tcp);
    }
    return *server_;
  }
  std::string url(std::string_view target) {
    const std::string scheme = is_secure(wire()) ? "https" : "http";
    return scheme + "://127.0.0.1:" + std::to_string(server().port()) + std::string(target);
  }
  /// Runs a task with a client.
  void run(const std::function<Task<>(skua::Client&)>& body) {
    run_on(backend(), with_client(body));
  }

  Router router_;
  ServerOptions server_options_;
  ClientOptions options_;

 private:
  Task<> with_client(const std::function<Task<>(skua::Client&)>& body) {
    skua::Client client(options_);
    co_await body(client);
    co_await client.close();
  }

  std::unique_ptr<TestServer> server_;
};

inline std::string client_test_name(
    const ::testing::TestParamInfo<std::tuple<BackendChoice, Wire>>& info) {
  constexpr std::array<const char*, 4> wires{"Http", "Https", "Http2", "Http2Tls"};
  const std::string backend =
      backend_name(::testing::TestParamInfo<BackendChoice>(std::get<0>(info.param), 0));
  return backend + wires[static_cast<std::size_t>(std::get<1>(info.param))];
}

inline auto client_test_values() {
  return ::testing::Combine(::testing::ValuesIn(backends()),
                            ::testing::Values(Wire::Http, Wire::Https));
}

/// Like `client_test_values()`, but over HTTP/2 as well.
inline auto client_test_values_of_both_versions() {
  std::vector<Wire> wires{Wire::Http, Wire::Https};
  wires.insert(wires.end(), {Wire::Http2, Wire::Http2Tls});
  return ::testing::Combine(::testing::ValuesIn(backends()), ::testing::ValuesIn(wires));
}

}  // namespace skua::testing
