// SPDX-License-Identifier: MIT
#include "net/listener.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <atomic>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace skua::net {
namespace {

class ListenerTest : public testing::Test, public ListenerSink {
 public:
  void on_accept(Socket connection) override { accepted.push_back(std::move(connection)); }
  void on_accept_paused(Error error) override { pauses.push_back(error.code()); }
  void on_listener_closed() override { listener.reset(); }

 protected:
  void SetUp() override {
    // UBSan checks an object's type through a pipe, for which a shortage leaves no descriptors,
    // and caches the result. So every virtual function is called once beforehand.
    ListenerSink& sink = *this;
    sink.on_accept_paused(Errc::None);
    listener->resume();
    const Socket once = client();
    pass(Duration::zero());
    listener->pause();
    accepted.clear();
    pauses.clear();
  }
  void TearDown() override {
    if (listener) listener->close();
    while (listener) loop->run_once(Duration::zero());
  }
  Socket client() const {
    Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const Address address = listener->address();
    EXPECT_EQ(::connect(socket.descriptor(), address.data(), address.size_bytes()), 0);
    return socket;
  }
  void settle() {
    for (int i = 0; i < 4; ++i) loop->run_once(Duration::zero());
  }
  void pass(Duration time) {
    clock.advance(time);
    settle();
  }
  static bool is_ended(const Socket& socket) {
    char byte = 0;
    return ::recv(socket.descriptor(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  loop::ManualClock clock;
  std::unique_ptr<loop::Loop> loop = *loop::Loop::create({.clock = &clock});
  std::vector<Socket> accepted;
  std::vector<Errc> pauses;
  std::unique_ptr<Listener> listener =
      std::make_unique<Listener>(*loop, *create_listener(*Address::parse("127.0.0.1:0")), *this);
};

/// Uses up all descriptors that the process may have.
class Shortage {
 public:
  Shortage() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = 128;
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int taken = 0; taken >= 0;) {
      taken = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (taken >= 0) taken_.emplace_back(taken);
    }
  }
  Shortage(const Shortage&) = delete;
  Shortage& operator=(const Shortage&) = delete;
  ~Shortage() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
  std::vector<Socket> taken_;
};

TEST_F(ListenerTest, AcceptsAfterResumeAndNotBefore) {
  const Socket first = client();
  settle();
  EXPECT_TRUE(accepted.empty());
  listener->resume();
  settle();
  EXPECT_EQ(accepted.size(), 1U);
  listener->pause();
  const Socket second = client();
  settle();
  EXPECT_EQ(accepted.size(), 1U);
  listener->resume();
  listener->resume();
  settle();
  EXPECT_EQ(accepted.size(), 2U);
}

TEST_F(ListenerTest, ShedsOneConnectionAndPausesWhenDescriptorsRunOut) {
  listener->resume();
  const Socket first = client();
  const Socket second = client();
  {
    const Shortage shortage;
    settle();
    EXPECT_TRUE(accepted.empty());
    EXPECT_EQ(pauses, std::vector<Errc>{Errc::TooManyOpenFiles});
    EXPECT_FALSE(listener->is_accepting());
    EXPECT_TRUE(is_ended(first));
    EXPECT_FALSE(is_ended(second));
  }
  pass(99ms);
  EXPECT_TRUE(accepted.empty());
  pass(1ms);
  EXPECT_EQ(accepted.size(), 1U);
  EXPECT_TRUE(listener->is_accepting());
}

TEST_F(ListenerTest, TriesLessAndLessOftenWhileTheShortageLasts) {
  listener->resume();
  std::vector<Socket> clients;
  for (int i = 0; i < 20; ++i) clients.push_back(client());
  {
    const Shortage shortage;
    settle();
    pass(100ms);
    EXPECT_EQ(pauses.size(), 2U);
    pass(200ms);
    EXPECT_EQ(pauses.size(), 3U);
    pass(400ms);
    pass(800ms);
    pass(1s);
    pass(1s);
    EXPECT_EQ(pauses.size(), 7U);
    // Nothing happens between retries: the ready connections do not keep the loop awake.
    // It waits, and epoll sets a timer.
    const auto before = loop->backend().system_calls().total();
    loop->run_once(20ms);
    EXPECT_LE(loop->backend().system_calls().total(), before + 2);
  }
  listener->resume();  // e.g. after a connection ended: no need to wait for the timer
  settle();
  EXPECT_EQ(accepted.size(), 13U);
}

TEST_F(ListenerTest, PauseDuringAShortageLastsUntilResume) {
  listener->resume();
  const Socket first = client();
  const Socket second = client();
  {
    const Shortage shortage;
    settle();
    listener->pause();
  }
  pass(10s);
  EXPECT_TRUE(accepted.empty());
  listener->resume();
  settle();
  EXPECT_EQ(accepted.size(), 1U);
}

TEST_F(ListenerTest, ClosesDuringAShortage) {
  listener->resume();
  const Socket waiting = client();
  {
    const Shortage shortage;
    settle();
    listener->close();
    settle();
  }
  EXPECT_EQ(listener, nullptr);
}

// The system would complete the handshakes of connections that come later, and then reset them.
TEST_F(ListenerTest, ADrainClosesTheSocketRightAfterTheLastAccept) {
  const Address address = listener->address();
  listener->resume();
  const Socket waiting = client();
  listener->drain();
  clock.advance(1s);
  loop->run_once(Duration::zero());
  EXPECT_EQ(accepted.size(), 1U);
  EXPECT_EQ(listener, nullptr) << "closed in the same turn";
  const Socket late(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_NE(::connect(late.descriptor(), address.data(), address.size_bytes()), 0);
}

TEST(CreateListeners, OfTwoServersThatAskForAPortOneGetsIt) {
  if (!shares_ports_late) GTEST_SKIP() << "a port is free for a moment here";
  constexpr int rounds = 1000;
  const Address address = create_listener(*Address::parse("127.0.0.1:0"))->local_address();
  std::barrier turn(2);
  std::atomic<int> owners = 0;
  const auto ask = [&] {
    for (int round = 1; round <= rounds; ++round) {
      std::vector<Socket> owned;
      turn.arrive_and_wait();
      while (owned.empty() && owners < round) {
        if (auto listeners = create_listeners(address, 2, false)) owned = *std::move(listeners);
      }
      if (!owned.empty()) ++owners;
      turn.arrive_and_wait();
    }
  };
  std::thread other(ask);
  ask();
  other.join();
  EXPECT_EQ(owners, rounds);
}

TEST(CreateListeners, ShareTheConnections) {
  if (!balances_listeners) GTEST_SKIP() << "one listener would get all connections";
  const auto listeners = create_listeners(*Address::parse("127.0.0.1:0"), 2, false);
  ASSERT_TRUE(listeners);
  const Address address = listeners->front().local_address();
  EXPECT_EQ(listeners->back().local_address(), address);
  std::vector<Socket> clients;
  for (int i = 0; i < 64; ++i) {
    clients.push_back(*create_socket(Address::Family::Ipv4));
    static_cast<void>(::connect(clients.back().descriptor(), address.data(), address.size_bytes()));
  }
  for (const Socket& listener : *listeners) {
    const Socket accepted(::accept(listener.descriptor(), nullptr, nullptr));
    EXPECT_TRUE(accepted);
  }
}

}  // namespace
}  // namespace skua::net
