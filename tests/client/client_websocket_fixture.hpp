// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "skua.hpp"
#include "support/run_on.hpp"
#include "support/test_server.hpp"
#include "tls/issue.hpp"

namespace skua::testing {

/// A client on a back end of the kind under test, and a server that it trusts.
class ClientWebSocket : public ::testing::TestWithParam<std::tuple<BackendChoice, Transport>> {
 protected:
  void SetUp() override {
    if (!is_secure(transport())) return;
    static const auto issued = tls::make_self_signed({});
    if (!issued) GTEST_SKIP() << issued.error().text;
    server_options_.tls.certificate = issued->certificate;
    server_options_.tls.private_key = issued->private_key;
    options_.tls.authorities = issued->certificate;
  }
  [[nodiscard]] static Transport transport() { return std::get<1>(GetParam()); }
  [[nodiscard]] static loop::BackendKind backend() {
    switch (std::get<0>(GetParam())) {
      case BackendChoice::Epoll: return loop::BackendKind::Epoll;
      case BackendChoice::IoUring: return loop::BackendKind::IoUring;
      case BackendChoice::Poll: return loop::BackendKind::Poll;
      case BackendChoice::Auto: break;
    }
    return loop::BackendKind::Auto;
  }

  TestServer& server() {
    if (server_ == nullptr) {
      server_ =
          std::make_unique<TestServer>(router_, BackendChoice::Auto, server_options_, transport());
    }
    return *server_;
  }
  std::string url(std::string_view target) {
    const std::string scheme = is_secure(transport()) ? "wss" : "ws";
    return scheme + "://127.0.0.1:" + std::to_string(server().port()) + std::string(target);
  }
  /// Runs a task that has a client.
  void run(const std::function<Task<>(skua::Client&)>& body) {
    run_on(backend(), with_client(body));
  }

  /// A handler that tells reason_seen() how its socket has ended.
  std::function<Task<>(WebSocket&)> keep_reason() {
    return [this](WebSocket& socket) -> Task<> {
      while (co_await socket.receive()) continue;
      seen_.set_value(socket.close_reason());
    };
  }
  CloseReason reason_seen() {
    auto future = seen_.get_future();
    if (future.wait_for(std::chrono::seconds(20)) != std::future_status::ready) {
      ADD_FAILURE() << "the server's handler goes on";
      return {};
    }
    return future.get();
  }
  static Task<> talk(skua::Client& client, std::string to) {
    auto socket = co_await client.websocket(to);
    if (!socket) co_return;
    for (int i = 0; i < 3; ++i) {
      co_await socket->send("x");
      co_await socket->receive();
    }
    socket->close();
    co_await socket->receive();
    co_await client.close();
  }

  Router router_;
  ServerOptions server_options_;
  ClientOptions options_;
  std::promise<CloseReason> seen_;

 private:
  Task<> with_client(const std::function<Task<>(skua::Client&)>& body) {
    skua::Client client(options_);
    co_await body(client);
    co_await client.close();
  }

  std::unique_ptr<TestServer> server_;
};

inline std::string client_websocket_name(
    const ::testing::TestParamInfo<std::tuple<BackendChoice, Transport>>& info) {
  const std::string backend =
      backend_name(::testing::TestParamInfo<BackendChoice>(std::get<0>(info.param), 0));
  return backend + (is_secure(std::get<1>(info.param)) ? "Tls" : "Tcp");
}

inline auto client_websocket_values() {
  return ::testing::Combine(::testing::ValuesIn(backends()),
                            ::testing::Values(Transport::Tcp, Transport::Tls));
}

}  // namespace skua::testing
