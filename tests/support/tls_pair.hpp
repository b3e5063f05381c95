// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/fault_stream.hpp"
#include "support/memory_stream.hpp"
#include "tls/client_context.hpp"
#include "tls/issue.hpp"
#include "tls/server_context.hpp"
#include "tls/tls_stream.hpp"

namespace skua::tls {

/// One side of a TLS connection over memory. Records events, sends what it is given, and checks
/// that no event arrives during its own calls.
class TlsPeer final : public net::StreamSink {
 public:
  /// `side` is a server's context or a client's engine.
  template <class Side>
  TlsPeer(loop::Loop& loop, Side side, std::uint64_t failing_operation = 0) {
    auto memory = std::make_unique<net::MemoryStream>();
    wire = memory.get();
    auto failing = std::make_unique<net::FaultStream>(std::move(memory), failing_operation);
    fault = failing.get();
    stream = std::make_unique<TlsStream>(loop, std::move(failing), std::move(side));
    stream->listen(*this);
  }
  /// Uses the given stream, without faults.
  template <class Side>
  TlsPeer(loop::Loop& loop, Side side, std::unique_ptr<net::Stream> inner)
      : stream(std::make_unique<TlsStream>(loop, std::move(inner), std::move(side))) {
    stream->listen(*this);
  }
  ~TlsPeer() = default;

  void receive() {
    call([this] { stream->start_receive(); });
  }
  void pause() {
    call([this] { stream->stop_receive(); });
  }
  void send(std::string_view text) {
    outgoing_ += text;
    go_on();
  }
  /// Sends close_notify once everything is sent.
  void finish() {
    wants_finish_ = true;
    go_on();
  }
  void close() {
    if (std::exchange(is_closing_, true)) return;
    call([this] { stream->close(); });
  }
  [[nodiscard]] bool is_all_sent() const { return sent_ == outgoing_.size(); }
  [[nodiscard]] Errc end() const { return receive_end ? receive_end->code() : Errc::None; }

  std::unique_ptr<TlsStream> stream;
  net::MemoryStream* wire = nullptr;
  net::FaultStream* fault = nullptr;
  std::string received;
  std::optional<Error> receive_end;
  std::optional<Error> send_failure;
  int established = 0;
  int closed = 0;
  bool tries_first = false;  ///< to send
  std::size_t pauses_after_bytes = std::numeric_limits<std::size_t>::max();
  std::function<void()> after_call;

 private:
  template <class Operation>
  void call(Operation operation) {
    const bool was_in_call = std::exchange(is_in_call_, true);
    operation();
    is_in_call_ = was_in_call;
  }

  void go_on() {
    while (!is_sending_ && !is_closing_ && !send_failure && !is_all_sent()) {
      if (tries_first && has_tried()) continue;
      const net::Slice rest{outgoing_.data() + sent_, outgoing_.size() - sent_};
      std::size_t taken = 0;
      call([&] { taken = stream->send({&rest, 1}); });
      sent_ += taken;
      is_sending_ = taken < rest.size_bytes;
    }
    if (!wants_finish_ || is_sending_ || is_closing_ || send_failure) return;
    wants_finish_ = false;
    call([this] { stream->shutdown_write(); });
  }

  /// Returns whether a try took anything.
  bool has_tried() {
    const net::Slice rest{outgoing_.data() + sent_, outgoing_.size() - sent_};
    net::Sent sent;
    call([&] { sent = stream->try_send({&rest, 1}); });
    sent_ += static_cast<std::size_t>(sent.bytes);
    is_sending_ = sent.is_pending;
    return sent.bytes != 0;
  }

  void heard() {
    EXPECT_FALSE(is_in_call_);
    EXPECT_EQ(closed, 0);
    if (after_call) after_call();
  }

  void on_established() override {
    ++established;
    EXPECT_TRUE(stream->is_established());
    EXPECT_FALSE(receive_end);
    heard();
  }
  void on_receive(std::span<char> bytes) override {
    EXPECT_EQ(established, 1);
    EXPECT_FALSE(is_closing_);
    EXPECT_FALSE(receive_end);
    received.append(bytes.data(), bytes.size());
    if (received.size() >= pauses_after_bytes) pause();
    heard();
  }
  void on_receive_end(Error error) override {
    EXPECT_FALSE(receive_end);
    EXPECT_FALSE(is_closing_);
    receive_end = error;
    heard();
  }
  void on_sent(std::size_t count) override {
    EXPECT_TRUE(is_sending_);
    EXPECT_FALSE(is_closing_);
    is_sending_ = false;
    sent_ += count;
    EXPECT_LE(sent_, outgoing_.size());
    heard();
    go_on();
  }
  void on_send_failed(Error error) override {
    EXPECT_TRUE(is_sending_);
    EXPECT_FALSE(is_closing_);
    is_sending_ = false;
    send_failure = error;
    heard();
  }
  void on_closed() override {
    heard();
    ++closed;
    stream.reset();
    wire = nullptr;
    fault = nullptr;
  }

  std::string outgoing_;
  std::size_t sent_ = 0;
  bool is_sending_ = false;
  bool is_closing_ = false;
  bool is_in_call_ = false;
  bool wants_finish_ = false;
};

/// Carries bytes between two peers until both are idle.
class TlsPair {
 public:
  TlsPair(std::shared_ptr<const ServerContext> context, std::unique_ptr<Engine> client_engine,
          std::uint64_t server_fault = 0, std::uint64_t client_fault = 0)
      : server(*loop, std::move(context), server_fault),
        client(*loop, std::move(client_engine), client_fault) {}
  ~TlsPair() {
    if (server.wire != nullptr) server.close();
    if (client.wire != nullptr) client.close();
    run();
    EXPECT_EQ(server.closed, 1);
    EXPECT_EQ(client.closed, 1);
  }

  void start() {
    server.receive();
    client.receive();
    run();
  }

  void run() {
    int idle_rounds = 0;
    while (idle_rounds < 3) {
      loop->run_once(Duration(0));
      bool moved = pump(server);
      moved = pump(client) || moved;
      moved |= carry(server, client, is_server_finished_);
      moved |= carry(client, server, is_client_finished_);
      idle_rounds = moved ? 0 : idle_rounds + 1;
    }
  }

  std::unique_ptr<loop::Loop> loop = *loop::Loop::create({.backend = BackendChoice::Poll});
  TlsPeer server;
  TlsPeer client;
  std::size_t piece_bytes = std::numeric_limits<std::size_t>::max();
  bool is_random = false;         ///< pieces have 1 to piece_bytes bytes
  bool is_cut = false;            ///< nothing arrives anymore
  std::string carried_to_server;  ///< all bytes so far

 private:
  static bool pump(TlsPeer& peer) {
    bool moved = false;
    while (peer.wire != nullptr && peer.wire->pump_once()) moved = true;
    if (peer.fault != nullptr) moved |= peer.fault->deliver();
    return moved;
  }

  bool carry(TlsPeer& from, TlsPeer& to, bool& is_finished) {
    if (from.wire == nullptr) return false;
    const std::string bytes = from.wire->take_output();
    bool moved = !bytes.empty();
    if (&to == &server) carried_to_server += bytes;
    if (to.wire == nullptr || is_cut) return false;
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const std::size_t most = is_random ? 1 + random_() % piece_bytes : piece_bytes;
      to.wire->feed(rest.substr(0, most));
      rest.remove_prefix(std::min(most, rest.size()));
    }
    if (from.wire->is_write_shut() && !std::exchange(is_finished, true)) {
      to.wire->finish();
      moved = true;
    }
    return moved;
  }

  std::minstd_rand random_{1};
  bool is_server_finished_ = false;
  bool is_client_finished_ = false;
};

/// A fixture with certificates that are generated once, and contexts that use them.
class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!crypto_is_there()) GTEST_SKIP() << "built without OpenSSL";
  }

  static bool crypto_is_there() { return static_cast<bool>(issue({.common_name = "x"})); }

  struct Authorities {
    Issued root = made({.common_name = "Root", .is_authority = true});
    Issued other_root = made({.common_name = "Other", .is_authority = true});
    Issued middle = made({.common_name = "Middle", .is_authority = true}, &root);
    Issued server = made({.common_name = "server", .hosts = {"example.com", "10.0.0.1"}}, &root);
    Issued client = made({.common_name = "client"}, &root);
  };
  static const Authorities& authorities() {
    static const Authorities all;
    return all;
  }
  static Issued made(const CertificateDetails& details, const Issued* issuer = nullptr) {
    auto issued = issue(details, issuer);
    if (!issued) throw std::runtime_error(issued.error().text);
    return *issued;
  }

  TlsTest() {
    if (!crypto_is_there()) return;
    server_options.certificate = authorities().server.certificate;
    server_options.private_key = authorities().server.private_key;
    client_options.authorities = authorities().root.certificate;
  }

  std::shared_ptr<const ServerContext> server_context() {
    auto context = ServerContext::create(server_options, server_protocols, keys);
    if (!context) throw std::runtime_error(context.error().text);
    return *context;
  }
  std::shared_ptr<const ClientContext> client_context() {
    auto context = ClientContext::create(client_options, client_protocols);
    if (!context) throw std::runtime_error(context.error().text);
    return *context;
  }
  /// Returns a pair with the current options, before its handshake.
  std::unique_ptr<TlsPair> pair(std::string_view host = "example.com",
                                std::string_view session = {}) {
    return std::make_unique<TlsPair>(server_context(), client_context()->connect(host, session));
  }
  /// Like `pair()`, but after the handshake, successful or not.
  std::unique_ptr<TlsPair> started(std::string_view host = "example.com",
                                   std::string_view session = {}) {
    auto made = pair(host, session);
    made->start();
    return made;
  }

  TlsOptions server_options;
  std::vector<std::string> server_protocols{"h2", "http/1.1"};
  ClientTlsOptions client_options;
  std::vector<std::string> client_protocols;
  loop::ManualClock clock;
  std::shared_ptr<TicketKeys> keys = std::make_shared<TicketKeys>(12h, clock);
};

/// A fixture for tests that run with both TLS 1.2 and 1.3.
class TlsVersionsTest : public TlsTest, public ::testing::WithParamInterface<TlsVersion> {
 protected:
  TlsVersionsTest() { client_options.maximum_version = GetParam(); }
  [[nodiscard]] static bool is_tls13() { return GetParam() == TlsVersion::Tls13; }
};

inline std::string version_name(const ::testing::TestParamInfo<TlsVersion>& info) {
  return info.param == TlsVersion::Tls12 ? "Tls12" : "Tls13";
}

}  // namespace skua::tls
