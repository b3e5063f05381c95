// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "loop/backend.hpp"
#include "skua/server.hpp"
#include "support/client.hpp"
#include "support/transport.hpp"

namespace skua::testing {

/// Returns the back ends available on this machine, as test parameters.
inline std::vector<BackendChoice> backends() {
  std::vector<BackendChoice> found{BackendChoice::Poll};
  if (loop::Backend::create(BackendChoice::Epoll)) found.push_back(BackendChoice::Epoll);
  if (loop::Backend::create(BackendChoice::IoUring)) found.push_back(BackendChoice::IoUring);
  return found;
}

inline std::string backend_name(const ::testing::TestParamInfo<BackendChoice>& info) {
  switch (info.param) {
    case BackendChoice::Epoll: return "Epoll";
    case BackendChoice::IoUring: return "IoUring";
    case BackendChoice::Poll: return "Poll";
    case BackendChoice::CompletionPort: return "CompletionPort";
    case BackendChoice::Auto: break;
  }
  return "Auto";
}

/// A server on its own port, with one thread by default. It uses TLS if the transport does.
class TestServer {
 public:
  TestServer(const Router& router, BackendChoice backend, ServerOptions options = {},
             Transport transport = testing::transport())
      : transport_(transport), server_(router, adapt(std::move(options), backend, transport)) {
    const Result<void, Problem> started = server_.start();
    EXPECT_TRUE(started) << started.error().message();
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return server_.port(); }
  [[nodiscard]] Client connect() const {
    Client client(server_.port(), transport_);
    client.continue_handshake();
    return client;
  }
  Server& operator*() noexcept { return server_; }
  Server* operator->() noexcept { return &server_; }

 private:
  static ServerOptions adapt(ServerOptions options, BackendChoice backend, Transport transport) {
    options.host = "127.0.0.1";
    options.port = 0;
    options.backend = backend;
    if (options.threads == 0) options.threads = 1;
    if (is_secure(transport) && !options.tls.is_enabled()) options.tls.self_signed = true;
    return options;
  }

  const Transport transport_;
  Server server_;
};

}  // namespace skua::testing
