// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <memory>
#include <utility>

#include "loop/clock.hpp"
#include "net/tcp_stream.hpp"
#include "server/worker.hpp"
#include "support/client.hpp"
#include "support/test_server.hpp"

namespace skua::testing {

/// One worker on the test's own thread, with a clock that the test sets: nothing happens by itself.
class TestWorker {
 public:
  TestWorker(const Router& router, BackendChoice backend, ServerOptions options = {})
      : options_(std::move(options)) {
    options_.backend = backend;
    auto created = server::Worker::create(router, options_, shared_, &clock_);
    EXPECT_TRUE(created) << created.error().message();
    worker_ = *std::move(created);
  }

  /// A client whose other end the worker serves.
  Client connect() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    EXPECT_EQ(::fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    worker_->serve(
        std::make_unique<net::TcpStream>(worker_->loop().backend(), net::Socket(ends[0])));
    return Client(net::Socket(ends[1]));
  }

  /// Turns until the client has something to read (or its end).
  void turn_until_readable(const Client& client) {
    for (int i = 0; i < 2000 && !is_readable(client); ++i) worker_->run_once(10ms);
    EXPECT_TRUE(is_readable(client));
  }
  /// Turns until there is nothing left to do.
  void settle() {
    for (int i = 0; i < 4; ++i) worker_->run_once(Duration(0));
  }
  /// Lets time pass, and tells the worker.
  void advance(Duration by) {
    clock_.advance(by);
    settle();
  }
  [[nodiscard]] static bool is_readable(const Client& client) {
    pollfd wanted{.fd = client.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&wanted, 1, 0) == 1;
  }
  std::optional<Answer> ask(Client& client, std::string_view bytes) {
    client.send(bytes);
    turn_until_readable(client);
    return client.answer();
  }
  [[nodiscard]] Counters counters() const {
    Counters sum;
    worker_->add_to(sum);
    return sum;
  }
  server::Worker& operator*() noexcept { return *worker_; }

 private:
  ServerOptions options_;
  server::SharedState shared_;
  loop::ManualClock clock_;
  std::unique_ptr<server::Worker> worker_;
};

}  // namespace skua::testing
