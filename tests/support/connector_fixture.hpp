// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "client/connect/connector.hpp"
#include "net/close_detached.hpp"
#include "net/tcp_stream.hpp"
#include "support/backends.hpp"
#include "support/memory_stream.hpp"
#include "support/recording_sink.hpp"
#include "support/tls_pair.hpp"

namespace skua::client {

/// A connector on the back end under test, and a listener for it to connect to.
class ConnectorTest : public tls::TlsTest, public ::testing::WithParamInterface<BackendChoice> {
 protected:
  using Connecting = Task<Result<net::HeldStream, Problem>>;
  /// A lookup's answer, held back by the gate; may outlive the test.
  struct Names {
    std::shared_future<void> gate;
    Addresses found;
  };

  void SetUp() override {
    loop_ = loop::Loop::create({.backend = GetParam(), .clock = &clock}).value();
    listen(*Address::parse("127.0.0.1:0"));
    ResolverOptions resolving;
    resolving.lookups.look_up = [names = names_](const std::string&) -> Result<Addresses> {
      names->gate.wait();
      return names->found;
    };
    resolver_ = std::make_unique<Resolver>(*loop_, resolving);
    use(sockets::open_socket);
    origin_.host = "example.com";
    origin_.port = net::local_address(listener_.descriptor()).port();
    found_ = {*Address::parse("127.0.0.1", 0)};
    opens_.set_value();
    gate_ = opens_.get_future().share();
  }
  void listen(const Address& address) { listener_ = *net::create_listener(address); }
  void use(OpenStream open) {
    connector_ = std::make_unique<Connector>(*loop_, *resolver_, std::move(open));
  }
  void use_tls() {
    origin_.is_secure = true;
    options_.tls = client_context();
  }
  /// Opens streams that never connect, except to the listener.
  OpenStream hanging() {
    return [this](loop::Loop& loop, const Address& address,
                  net::StreamSink& sink) -> Result<std::unique_ptr<net::Stream>> {
      if (address == net::local_address(listener_.descriptor())) {
        return sockets::open_socket(loop, address, sink);
      }
      auto stream = std::make_unique<net::MemoryStream>();
      hanging_ = stream.get();
      stream->listen(sink);
      return std::unique_ptr<net::Stream>(std::move(stream));
    };
  }

  Connecting started() {
    Connecting task = connector_->connect(origin_, options_);
    loop_->post([&task] { task.start(nullptr, nullptr); });
    loop_->run_once(Duration(0));
    return task;
  }
  void settle() {
    for (int i = 0; i < 6; ++i) loop_->run_once(Duration(0));
  }
  void advance(Duration by) {
    clock.advance(by);
    settle();
  }
  void turn_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!holds()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end);
      loop_->run_once(10ms);
    }
  }
  Result<net::HeldStream, Problem> finished(Connecting& task) {
    turn_until([&] { return task.is_done(); });
    return task.result();
  }
  Result<net::HeldStream, Problem> connected() {
    Connecting task = started();
    return finished(task);
  }
  [[nodiscard]] Problem problem() {
    const auto outcome = connected();
    return outcome ? Problem() : outcome.error();
  }
  bool has_caller() { return listener_.wait_readable(Duration(0)).has_value(); }
  /// Accepts the next connection.
  Socket accepted() {
    turn_until([this] { return has_caller(); });
    return Socket(bsd::accept_one(listener_.descriptor()));
  }
  std::unique_ptr<tls::TlsPeer> accepted_tls() {
    auto peer = std::make_unique<tls::TlsPeer>(
        *loop_, server_context(), std::make_unique<net::TcpStream>(loop_->backend(), accepted()));
    peer->receive();
    return peer;
  }
  void close(tls::TlsPeer& peer) {
    peer.close();
    turn_until([&] { return peer.closed == 1; });
  }
  /// Runs the loop until the client has closed this connection.
  void expect_closed(const Socket& peer) {
    turn_until([&] {
      char bytes[4096];
      const ssize_t count = bsd::recv(peer.descriptor(), bytes, sizeof bytes, 0);
      return count == 0 || (count < 0 && errno == ECONNRESET);
    });
  }
  /// Exchanges data both ways, then closes the stream.
  void expect_echo(std::unique_ptr<net::Stream> stream, const Socket& peer) {
    net::RecordingSink sink;
    stream->listen(sink);
    net::send_text(*stream, "ping");
    EXPECT_EQ(bsd::send(peer.descriptor(), "pong", 4, 0), 4);
    stream->start_receive();
    turn_until([&] { return sink.received.size() == 5; });
    EXPECT_EQ(sink.received, "pong|");
    char bytes[5] = {};
    turn_until([&] { return bsd::recv(peer.descriptor(), bytes, 4, 0) == 4; });
    EXPECT_STREQ(bytes, "ping");
    stream->close();
    turn_until([&] { return sink.closed == 1; });
  }

  std::unique_ptr<loop::Loop> loop_;
  std::promise<void> opens_;
  const std::shared_ptr<Names> names_ = std::make_shared<Names>();
  std::shared_future<void>& gate_ = names_->gate;
  Addresses& found_ = names_->found;
  std::unique_ptr<Resolver> resolver_;
  std::unique_ptr<Connector> connector_;
  Socket listener_;
  net::MemoryStream* hanging_ = nullptr;
  Origin origin_;
  ConnectOptions options_;
};

}  // namespace skua::client
