// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loop/backend.hpp"
#include "net/socket.hpp"
#include "support/backends.hpp"

namespace skua::loop {

/// A handle that records all events, and checks that only those that the contract allows arrive.
class Probe final : public Handle {
 public:
  explicit Probe(Backend& backend) : backend_(backend) {}
  Probe(Backend& backend, Socket socket) : Probe(backend) { open(std::move(socket)); }
  ~Probe() { EXPECT_EQ(descriptor(), -1) << "destroyed before on_closed"; }

  void open(Socket socket) { backend_.open(*this, socket.release()); }
  void start_accept();
  void stop_accept() { backend_.stop_accept(*this); }
  void start_receive();
  void stop_receive() { backend_.stop_receive(*this); }
  void connect(const Address& address);
  /// Sends all slices, in as many sends as the back end needs.
  void send(std::vector<Slice> slices);
  void send(std::string_view text) { send({Slice{text.data(), text.size()}}); }
  void send_file(int file, std::uint64_t offset, std::size_t size_bytes);
  void shutdown_write() { backend_.shutdown_write(*this); }
  void close();
  [[nodiscard]] bool is_sending() const { return is_pending_; }

  std::vector<Socket> accepted;
  std::vector<Error> accept_failures;
  std::optional<Errc> connected;
  std::string received;
  const char* received_at = nullptr;  // address of the latest bytes
  std::optional<Errc> receive_end;
  std::size_t sent = 0;
  std::optional<Errc> send_failure;
  int closed_count = 0;
  int call_count = 0;
  /// Called after each event of the back end, with its name.
  std::function<void(std::string_view)> after_call;

 private:
  void on_accept(int descriptor) override;
  void on_accept_failed(Error error) override;
  void on_connect(Error error) override;
  void on_receive(std::span<char> bytes) override;
  void on_receive_end(Error error) override;
  void on_sent(std::size_t count) override;
  void on_send_failed(Error error) override;
  void on_closed() override;

  void called(std::string_view name);
  void take(std::size_t count);
  void go_on();

  Backend& backend_;
  std::vector<Slice> slices_;
  int file_ = -1;
  std::uint64_t offset_ = 0;
  std::size_t file_left_ = 0;
  bool is_pending_ = false;  // on_sent or on_send_failed is due
  bool is_inside_operation_ = false;
  bool is_closing_ = false;
};

/// The back end under test, and sockets to try it with: 127.0.0.1, port 0, no sleeps.
class BackendTest : public ::testing::TestWithParam<BackendChoice> {
 protected:
  struct Pair {
    Socket ours;
    Socket peer;  // non-blocking too
  };

  BackendTest();

  /// Turns until `is_done`, or fails after 20 seconds.
  void turn_until(const std::function<bool()>& is_done);
  /// Runs a few turns that do not wait, so that all pending events arrive, unexpected ones too.
  void settle();
  /// Turns until `time` has passed. A turn may be interrupted (epoll_wait is, once or twice, in a
  /// thread that recently had an io_uring), but repeated turns without an event fail the test.
  void wait_out(Duration time);
  void close_all(std::initializer_list<Probe*> probes);

  static Pair connected_pair();
  static Pair unix_pair();
  static Socket listener();
  static Socket client_of(const Socket& listener);
  static void write(const Socket& peer, std::string_view text);
  /// Reads what has arrived at the peer; empty at the end or if there is nothing.
  static std::string read(const Socket& peer, std::size_t max_bytes = 65536);
  static bool has_ended(const Socket& peer);
  /// Whether an error says that the peer is gone: which of the two depends on the system.
  static bool is_gone(std::optional<Errc> error) {
    return error == Errc::Closed || error == Errc::Reset;
  }
  /// Closes with a reset instead of a FIN.
  static void reset(Socket& peer);
  /// Reads `count` bytes at the peer, at most `step` per turn.
  std::string read_exactly(const Socket& peer, std::size_t count, std::size_t step);

  std::unique_ptr<Backend> backend;
};

/// Returns text of this length in which any misplaced piece shows.
std::string pattern(std::size_t size_bytes);

}  // namespace skua::loop
