// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "loop/clock.hpp"
#include "net/tcp_stream.hpp"
#include "server/worker.hpp"
#include "support/client.hpp"
#include "support/test_server.hpp"
#include "tls/tls_stream.hpp"

namespace skua::testing {

/// One worker on the test's own thread. It runs, and its clock moves, only when the test says so.
class TestWorker {
 public:
  TestWorker(const Router& router, BackendChoice backend, ServerOptions options = {},
             Transport transport = testing::transport())
      : transport_(transport), options_(std::move(options)) {
    options_.backend = backend;
    if (is_secure(transport)) prepare_tls();
    auto created = server::Worker::create(router, options_, shared_, &clock_);
    EXPECT_TRUE(created) << created.error().message();
    worker_ = *std::move(created);
  }

  /// Returns a client that is connected to the worker.
  Client connect() { return connect(transport_); }
  Client connect(Transport transport) {
    std::array<int, 2> ends{};
    EXPECT_EQ(bsd::pair(ends), 0);
    std::unique_ptr<net::Stream> stream =
        std::make_unique<net::TcpStream>(worker_->loop().backend(), Socket(ends[0]));
    if (shared_.tls != nullptr) {
      stream = std::make_unique<tls::TlsStream>(worker_->loop(), std::move(stream),
                                                shared_.tls->current());
    }
    worker_->serve(std::move(stream));
    Client client(Socket(ends[1]), transport, [this] { worker_->run_once(1ms); });
    if (is_secure(transport)) {
      client.continue_handshake();
      settle();  // the worker has seen the handshake end
    }
    return client;
  }

  /// Runs the worker until `holds()`, which is asked after every turn. Gives up after 20 s, however
  /// many turns that is: what other threads do takes time, not turns.
  template <class Condition>
  void turn_until(Condition&& holds) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    bool is_held = holds();
    while (!is_held && std::chrono::steady_clock::now() < end) {
      worker_->run_once(1ms);
      is_held = holds();
    }
    EXPECT_TRUE(is_held) << "after 20 s";
  }
  /// Runs the worker until the client has something to read, or its end.
  void turn_until_readable(Client& client) {
    turn_until([&] { return is_readable(client); });
  }
  /// Runs the worker until no connection is open.
  void turn_until_closed() {
    turn_until([this] { return counters().connections_open == 0; });
  }
  /// Runs the worker until it has nothing left to do.
  void settle() {
    for (int i = 0; i < 4; ++i) worker_->run_once(Duration(0));
  }
  /// Moves the clock, then runs the worker.
  void advance(Duration by) {
    clock_.advance(by);
    settle();
  }
  /// Moves the clock, as a handler that keeps its thread busy does.
  void pass(Duration time) { clock_.advance(time); }
  [[nodiscard]] static bool is_readable(Client& client) { return client.is_readable(); }
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
  void prepare_tls() {
    if (!options_.tls.is_enabled()) options_.tls.self_signed = true;
    auto context = tls::ReloadableContext::create(options_.tls, {"h2", "http/1.1"}, clock_);
    if (!context) throw std::runtime_error(context.error().text);
    shared_.tls = *std::move(context);
  }

  const Transport transport_;
  ServerOptions options_;
  loop::ManualClock clock_;
  server::SharedState shared_{options_};
  std::unique_ptr<server::Worker> worker_;
};

}  // namespace skua::testing
