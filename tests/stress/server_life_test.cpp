// SPDX-License-Identifier: MIT
// Threads that start, stop, restart, ask and drop servers as they like, beside handlers that do the
// same. Twenty rounds, or as many seconds as SKUA_STRESS_SECONDS says; meant for the sanitizers.
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "net/socket.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

constexpr int calls_per_thread = 40;
constexpr auto patience = std::chrono::seconds(60);

/// Whether another round is due.
class Rounds {
 public:
  bool next() {
    ++count_;
    return seconds_ > 0
               ? std::chrono::steady_clock::now() - began_ < std::chrono::duration<double>(seconds_)
               : count_ <= 20;
  }
  [[nodiscard]] unsigned count() const noexcept { return count_; }

 private:
  static double wanted_seconds() {
    const char* const told = std::getenv("SKUA_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
    return told == nullptr ? 0 : std::strtod(told, nullptr);
  }

  const double seconds_ = wanted_seconds();
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  unsigned count_ = 0;
};

/// One request on a connection of its own; what comes back, or does not, is as it may be.
void ask(std::uint16_t port, const std::string& path) {
  const net::Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 2, .tv_usec = 0};
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.descriptor(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0) {
    return;
  }
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  if (::send(socket.descriptor(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return;
  std::array<char, 512> buffer;
  while (::recv(socket.descriptor(), buffer.data(), buffer.size(), 0) > 0) continue;
}

/// A server that its own handlers, and others, do everything to.
class Round {
 public:
  Round(BackendChoice backend, unsigned seed) : backend_(backend), seed_(seed) {
    router_.get("/", [] { return "hello"; });
    router_.get("/stop", [this] { return act([](Server& server) { server.shutdown(); }); });
    router_.get("/never", []() -> Task<std::string> {
      Event never;
      co_await never.wait();
      co_return "never";
    });
    router_.get("/cancel", [this]() -> Task<std::string> {
      co_await sleep(1ms);
      co_return act([](Server& server) { server.cancel(); });
    });
    router_.get("/offload/stop", [this]() -> Task<std::string> {
      co_await offload([this] { act([](Server& server) { server.shutdown(1s); }); });
      co_return "stopped";
    });
    router_.get("/offload/start", [this]() -> Task<std::string> {
      co_await offload([this] { act([](Server& server) { static_cast<void>(server.start()); }); });
      co_return "started";
    });
    router_.get("/drop", [this] {
      server_.reset();
      return "dropped";
    });
    make();
  }

  void run() {
    std::vector<std::future<void>> threads;
    for (unsigned i = 0; i < 3; ++i) {
      threads.push_back(std::async(std::launch::async, [this, i] { control(seed_ + i); }));
    }
    for (unsigned i = 3; i < 5; ++i) {
      threads.push_back(std::async(std::launch::async, [this, i] { visit(seed_ + i); }));
    }
    for (const std::future<void>& thread : threads) {
      const auto end = std::chrono::steady_clock::now() + patience;
      // Who waits for the end of the server is let go.
      while (thread.wait_for(5ms) != std::future_status::ready) {
        server_->cancel();
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "a call hangs";
      }
    }
    drop();
  }

 private:
  void make() {
    ServerOptions options{.host = "127.0.0.1", .port = 0, .threads = 2, .backend = backend_};
    options.timeouts.shutdown = 200ms;
    options.timeouts.drain_grace = 1ms;
    options.timeouts.linger = 10ms;
    const auto gone = std::make_shared<std::promise<void>>();
    gone_ = gone->get_future();
    const std::shared_ptr<void> last(nullptr, [gone](void*) { gone->set_value(); });
    options.hooks.on_connection_close = [last, this] {
      if (++closed_ % 16 == 0) act([](Server& server) { server.shutdown(); });
    };
    server_ = std::make_unique<Server>(router_, std::move(options));
  }

  std::string act(void (*call)(Server&)) {
    ++acting_;
    if (!is_dropping_) call(*server_);
    --acting_;
    return "done";
  }

  void control(unsigned seed) {
    std::minstd_rand random(seed);
    for (int i = 0; i < calls_per_thread; ++i) {
      switch (random() % 12) {
        case 0: server_->shutdown(Duration(0)); break;
        case 1: server_->shutdown(1ms); break;
        case 2: server_->shutdown(); break;
        case 3: server_->cancel(); break;
        case 4: server_->wait(); break;
        case 5: static_cast<void>(server_->counters()); break;
        case 6: server_->publish("topic", "text"); break;
        case 7: static_cast<void>(server_->url()); break;
        default:
          const Result<void> started = server_->start();
          if (!started && started.error().code() != Errc::Cancelled) {
            EXPECT_EQ(started.error().code(), Errc::AlreadyStarted);
          }
      }
    }
  }

  void visit(unsigned seed) {
    constexpr const char* paths[] = {"/",       "/never",        "/stop",
                                     "/cancel", "/offload/stop", "/offload/start"};
    std::minstd_rand random(seed);
    for (int i = 0; i < calls_per_thread; ++i) {
      if (const std::uint16_t port = server_->port(); port != 0) ask(port, paths[random() % 6]);
    }
  }

  // By this thread, or by a handler: then the router stays until the threads are gone.
  void drop() {
    is_dropping_ = true;
    while (acting_ != 0) server_->cancel();  // a pool's thread may be anywhere in a call
    server_->shutdown(Duration(0));
    if (seed_ % 2 == 0) {
      server_.reset();
    } else {
      ASSERT_TRUE(server_->start());
      ask(server_->port(), "/drop");
    }
    EXPECT_EQ(gone_.wait_for(patience), std::future_status::ready);
  }

  const BackendChoice backend_;
  const unsigned seed_;
  Router router_;
  std::atomic<bool> is_dropping_{false};
  std::atomic<int> acting_{0};
  std::atomic<unsigned> closed_{0};
  std::unique_ptr<Server> server_;
  std::future<void> gone_;
};

TEST(ServerLifeStress, AnyCallOnAnyThreadAtAnyTime) {
  const std::vector<BackendChoice> backends = testing::backends();
  Rounds rounds;
  while (rounds.next() && !::testing::Test::HasFailure()) {
    Round round(backends[rounds.count() % backends.size()], rounds.count());
    round.run();
  }
  std::printf("%u rounds\n", rounds.count() - 1);
}

}  // namespace
}  // namespace skua
