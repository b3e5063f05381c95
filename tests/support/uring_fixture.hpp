// SPDX-License-Identifier: MIT
#pragma once

#include "loop/backends.hpp"

#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skua::loop {
using std::chrono::steady_clock;

inline constexpr UringOptions tiny_options = {
    .submissions = 4,
    .completions = 8,
    .shared_buffers = {},
    .single_buffers = {.first_count = 1, .max_count = 4, .size_bytes = 64}};

inline constexpr UringOptions tiny_shared_options = {
    .submissions = 4,
    .completions = 8,
    .shared_buffers = {.first_count = 1, .max_count = 4, .size_bytes = 64},
    .single_buffers = tiny_options.single_buffers};

// A handle that records its callbacks, and may run a function in each.
class Recorder final : public Handle {
 public:
  std::string received;
  std::vector<int> accepted;
  std::optional<Error> end, send_failure, connected, accept_failure;
  std::size_t sent_bytes = 0;
  int sent_calls = 0, closed_calls = 0;
  std::function<void(std::span<char>)> when_received = [](std::span<char>) {};
  std::function<void(int)> when_accepted = [](int) {};
  std::function<void()> when_sent = [] {}, when_ended = [] {}, when_closed = [] {};

  ~Recorder() = default;

 private:
  void on_accept(int descriptor) override {
    accepted.push_back(descriptor);
    when_accepted(descriptor);
  }
  void on_accept_failed(Error error) override { accept_failure = error; }
  void on_connect(Error error) override { connected = error; }
  void on_receive(std::span<char> bytes) override {
    received.append(bytes.data(), bytes.size());
    when_received(bytes);
  }
  void on_receive_end(Error error) override {
    end = error;
    when_ended();
  }
  void on_sent(std::size_t count) override {
    sent_bytes += count;
    ++sent_calls;
    when_sent();
  }
  void on_send_failed(Error error) override { send_failure = error; }
  void on_closed() override {
    ++closed_calls;
    const auto call = std::move(when_closed);  // which may destroy this
    call();
  }
};

inline std::pair<int, int> socket_pair(int type = SOCK_STREAM) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {ends[0], ends[1]};
}

inline sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline int tcp_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// A listening socket and its address.
inline std::pair<int, sockaddr_in> listening_socket() {
  const int descriptor = tcp_socket();
  sockaddr_in address = loopback();
  socklen_t size = sizeof(address);
  EXPECT_EQ(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(descriptor, 4096), 0);
  EXPECT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  return {descriptor, address};
}

inline void write_all(int descriptor, std::string_view bytes) {
  ASSERT_EQ(::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

inline std::string read_some(int descriptor) {
  std::string out(1 << 16, '\0');
  const ssize_t count = ::recv(descriptor, out.data(), out.size(), 0);
  out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return out;
}

inline Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// A TCP connection, which can be reset: our end, then the peer's.
inline std::pair<int, int> tcp_pair() {
  const auto [listener, address] = listening_socket();
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const int ours = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  EXPECT_GE(ours, 0);
  ::close(listener);
  return {ours, peer};
}

inline void reset(int descriptor) {
  const linger hard = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  ::close(descriptor);
}

// All tests run with the server's sizes, with queues that are always full, and as on old kernels.
class UringBackendTest : public ::testing::TestWithParam<UringOptions> {
 protected:
  void SetUp() override {
    auto made = make_uring_backend(GetParam());
    if (!made) GTEST_SKIP() << made.error().message();
    backend = *std::move(made);
  }

  // Runs turns until `is_done`; fails after 20 s.
  void turn_until(const std::function<bool()>& is_done) {
    const auto deadline = steady_clock::now() + 20s;
    while (!is_done()) {
      ASSERT_LT(steady_clock::now(), deadline) << "nothing happened";
      backend->turn(100ms);
    }
  }
  // Runs enough turns for everything in flight to arrive.
  void settle() {
    for (int i = 0; i < 50; ++i) backend->turn(0ns);
  }
  void close_and_wait(Recorder& handle) {
    backend->close(handle);
    turn_until([&] { return handle.closed_calls > 0; });
    EXPECT_EQ(handle.closed_calls, 1);
    EXPECT_EQ(handle.descriptor(), -1);
  }

  std::unique_ptr<Backend> backend;
};

}  // namespace skua::loop
