// SPDX-License-Identifier: MIT
// Threads and handlers start, stop, restart, signal and destroy servers at random, while clients
// stay or leave. Runs for SKUA_STRESS_SECONDS, 2 by default; meant for sanitizers.
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "crypto/digest.hpp"
#include "net/socket.hpp"
#include "skua.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::Transport;

constexpr int calls_per_thread = 40;
constexpr auto patience = std::chrono::seconds(60);

/// Counts rounds until the time is up.
class Rounds {
 public:
  bool next() {
    ++count_;
    return std::chrono::steady_clock::now() - began_ < std::chrono::duration<double>(seconds_);
  }
  [[nodiscard]] unsigned count() const noexcept { return count_; }

 private:
  static double wanted_seconds() {
    const char* const told = std::getenv("SKUA_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
    return told == nullptr ? 2 : std::strtod(told, nullptr);
  }

  const double seconds_ = wanted_seconds();
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  unsigned count_ = 0;
};

std::vector<Transport> transports() {
  std::vector<Transport> found{Transport::Tcp};
  found.push_back(Transport::H2);
  if (crypto::is_available()) found.push_back(Transport::Tls);
  if (crypto::is_available()) found.push_back(Transport::H2Tls);
  return found;
}

/// Connects; returns nullopt if the server is gone.
std::optional<Client> connect(std::uint16_t port, Transport transport) {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 20, .tv_usec = 0};
  ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const where = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.descriptor(), where, sizeof address) != 0) return std::nullopt;
  Client client(std::move(socket), transport);
  client.continue_handshake();
  if (client.tls() != nullptr && !client.tls()->is_established()) return std::nullopt;
  return client;
}

/// Keeps SIGTERM blocked while it lives, then discards pending ones.
class HeldSignals {
 public:
  HeldSignals() = default;
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    const timespec at_once{};
    while (sigtimedwait(&signals, nullptr, &at_once) > 0) continue;
  }

 private:
  const ShutdownSignals signals_;  // later threads inherit the blocked signals
};

/// A server that its handlers and other threads control at random.
class Round {
 public:
  Round(BackendChoice backend, Transport transport, unsigned seed)
      : backend_(backend), transport_(transport), seed_(seed) {
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
    for (unsigned i = 0; i < kept_.size(); ++i) {
      threads.push_back(
          std::async(std::launch::async, [this, i] { visit(seed_ + 3 + i, kept_[i]); }));
    }
    threads.push_back(std::async(std::launch::async, [this] {
      const ShutdownSignals signals;
      for (int i = 0; i < 4; ++i) signals.wait_and_drain(*server_);
    }));
    for (const std::future<void>& thread : threads) {
      const auto end = std::chrono::steady_clock::now() + patience;
      // Releases threads that wait for the server's end.
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
    options.tls.self_signed = testing::is_secure(transport_);
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
      switch (random() % 14) {
        case 0: server_->shutdown(Duration(0)); break;
        case 1: server_->shutdown(1ms); break;
        case 2: server_->shutdown(); break;
        case 3: server_->cancel(); break;
        case 4: server_->wait(); break;
        case 5: static_cast<void>(server_->counters()); break;
        case 6: server_->publish("topic", "text"); break;
        case 7: static_cast<void>(server_->url()); break;
        case 8: static_cast<void>(server_->reload_tls()); break;
        case 9: ::kill(::getpid(), SIGTERM); break;
        default:
          const Result<void, Problem> started = server_->start();
          if (!started && started.error().code() != Errc::Cancelled) {
            EXPECT_EQ(started.error().code(), Errc::AlreadyStarted);
          }
      }
    }
  }

  // Clients wait for the answer, leave at once or in the middle of a request, or stay.
  void visit(unsigned seed, std::vector<Client>& kept) {
    constexpr const char* paths[] = {"/",       "/never",        "/stop",
                                     "/cancel", "/offload/stop", "/offload/start"};
    std::minstd_rand random(seed);
    for (int i = 0; i < calls_per_thread; ++i) {
      const std::uint16_t port = server_->port();
      std::optional<Client> client;
      if (port != 0) client = connect(port, transport_);
      if (!client) continue;
      const std::string request = get(paths[random() % 6]);
      switch (random() % 6) {
        case 0: client->send(request); break;
        case 1: client->send(request.substr(0, request.size() / 2)); break;
        case 2:
          client->send(request);
          client->reset();
          break;
        case 3:
          client->send(request);
          kept.push_back(*std::move(client));
          break;
        default: client->send(request); static_cast<void>(client->answer());
      }
    }
  }

  // Destroys the server here or in a handler, then waits for its threads, which use the router.
  void drop() {
    is_dropping_ = true;
    while (acting_ != 0) server_->cancel();  // a pool thread may still be inside a call
    server_->shutdown(Duration(0));
    ASSERT_TRUE(server_->start());
    std::vector<Client> open;
    for (const char* path : {"/never", "/"}) {
      open.push_back(connect(server_->port(), transport_).value());
      open.back().send(get(path));
    }
    static_cast<void>(open.back().answer());
    if (seed_ % 2 == 0) {
      server_.reset();
    } else {
      open.back().send(get("/drop"));
      static_cast<void>(open.back().answer());
    }
    EXPECT_EQ(gone_.wait_for(patience), std::future_status::ready);
  }

  const BackendChoice backend_;
  const Transport transport_;
  const unsigned seed_;
  std::array<std::vector<Client>, 2> kept_;  // connections that are open when the server goes
  Router router_;
  std::atomic<bool> is_dropping_{false};
  std::atomic<int> acting_{0};
  std::atomic<unsigned> closed_{0};
  std::unique_ptr<Server> server_;
  std::future<void> gone_;
};

TEST(ServerLifeStress, AnyCallOnAnyThreadAtAnyTime) {
  const HeldSignals signals;
  const std::vector<BackendChoice> backends = testing::backends();
  const std::vector<Transport> spoken = transports();
  Rounds rounds;
  while (rounds.next() && !::testing::Test::HasFailure()) {
    const unsigned number = rounds.count();
    Round round(backends[number % backends.size()],
                spoken[number / backends.size() % spoken.size()], number);
    round.run();
  }
  std::printf("%u rounds\n", rounds.count() - 1);
}

}  // namespace
}  // namespace skua
