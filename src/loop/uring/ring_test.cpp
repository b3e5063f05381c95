// SPDX-License-Identifier: MIT
#include "loop/uring/ring.hpp"

#include "support/uring_fixture.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

namespace skua::loop {
namespace {

TEST_P(UringBackendTest, RemembersAWakeFromBeforeTheFirstTurn) {
  backend->wake();
  backend->wake();
  const auto before = steady_clock::now();
  backend->turn(20s);
  EXPECT_LT(steady_clock::now() - before, 10s);
}

TEST_P(UringBackendTest, IsWokenAgainAndAgainByAnotherThread) {
  std::atomic<int> asked = 0, answered = 0;
  std::thread waker([&] {
    for (int i = 1; i <= 200; ++i) {
      asked.store(i);
      backend->wake();
      while (answered.load() < i) std::this_thread::yield();
    }
  });
  const auto before = steady_clock::now();
  while (answered.load() < 200) {
    backend->turn(20s);
    answered.store(asked.load());
  }
  waker.join();
  EXPECT_LT(steady_clock::now() - before, 10s);
}

TEST_P(UringBackendTest, WaitsNoLongerThanItsTimeout) {
  const auto before = steady_clock::now();
  backend->turn(0ns);
  backend->turn(30ms);
  const auto after = steady_clock::now();
  EXPECT_GE(after - before, 25ms);
  EXPECT_LT(after - before, 10s);
}

TEST_P(UringBackendTest, TellsOnClosedEvenWhenItsThreadHasEnded) {
  std::deque<Recorder> handles(20);
  std::vector<int> peers;
  for (Recorder& handle : handles) {
    const auto [descriptor, other] = socket_pair();
    backend->open(handle, descriptor);
    backend->start_receive(handle);
    peers.push_back(other);
  }
  std::thread([&] {
    settle();
    for (int i = 0; i < 5; ++i) backend->close(handles[static_cast<std::size_t>(i)]);
  }).join();
  for (Recorder& handle : handles) backend->close(handle);
  for (int i = 0; i < 3; ++i) backend->turn(0ns);
  for (const Recorder& handle : handles) EXPECT_EQ(handle.closed_calls, 1);
  backend.reset();
  char byte = 0;
  for (const int other : peers) {
    pollfd waiting = {.fd = other, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 2'000), 1);
    EXPECT_EQ(::recv(other, &byte, 1, 0), 0);
    ::close(other);
  }
}

TEST_P(UringBackendTest, ClosesWhatIsClosingWhenItIsDestroyed) {
  const auto [ours, peer] = socket_pair();
  const auto [other, other_peer] = socket_pair();
  Recorder first, second;
  backend->open(first, ours);
  backend->open(second, other);
  backend->start_receive(first);
  backend->start_receive(second);
  settle();
  Backend& dying = *backend;  // `backend` is null by then
  first.when_closed = [&] { dying.close(second); };
  backend->close(first);
  backend.reset();
  EXPECT_EQ(first.closed_calls, 1);
  EXPECT_EQ(second.closed_calls, 1);
  for (const int end : {peer, other_peer}) {
    pollfd waiting = {.fd = end, .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&waiting, 1, 2'000), 1);
    ::close(end);
  }
}

TEST(UringBackend, RunsOnTwoThreadsSideBySide) {
  const auto serve = [](int& served) {
    auto made = make_uring_backend();
    if (!made) return;
    const auto backend = *std::move(made);
    const auto [ours, peer] = socket_pair();
    Recorder handle;
    handle.when_received = [&](std::span<char>) {
      ++served;
      backend->send(handle, std::array{slice("pong")});
    };
    backend->open(handle, ours);
    backend->start_receive(handle);
    for (int i = 0; i < 2000; ++i) {
      write_all(peer, "ping");
      while (handle.sent_calls <= i) backend->turn(10s);
      EXPECT_EQ(read_some(peer), "pong");
    }
    backend->close(handle);
    while (handle.closed_calls == 0) backend->turn(10s);
    ::close(peer);
  };
  if (!make_uring_backend()) GTEST_SKIP() << "io_uring is not available";
  int first = 0, second = 0;
  std::thread one([&] { serve(first); });
  std::thread two([&] { serve(second); });
  one.join();
  two.join();
  EXPECT_EQ(first, 2000);
  EXPECT_EQ(second, 2000);
}

TEST(UringBackend, ServesManyConnectionsWithAFewSystemCalls) {
  auto made = make_uring_backend();
  if (!made) GTEST_SKIP() << "io_uring is not available";
  const auto backend = *std::move(made);
  std::deque<Recorder> handles(64);
  std::vector<int> peers;
  for (Recorder& handle : handles) {
    const auto [ours, peer] = socket_pair();
    peers.push_back(peer);
    handle.when_received = [&](std::span<char>) {
      backend->send(handle, std::array{slice("response")});
    };
    backend->open(handle, ours);
    backend->start_receive(handle);
  }
  backend->turn(0ns);
  const SystemCalls before = backend->system_calls();
  for (const int peer : peers) write_all(peer, "request");
  for (const Recorder& handle : handles) {
    while (handle.sent_calls == 0) backend->turn(10s);
  }
  // Newer kernels (6.13) complete twenty receives per call, and all sends.
  EXPECT_LE(backend->system_calls().total() - before.total(), 6U);
  for (Recorder& handle : handles) backend->close(handle);
  for (Recorder& handle : handles) {
    while (handle.closed_calls == 0) backend->turn(10s);
  }
  for (const int peer : peers) ::close(peer);
}

// As under a container's rules, io_uring_setup is forbidden, here for one thread only.
TEST(UringBackend, IsUnsupportedWhereTheKernelRefuses) {
  std::optional<Error> error;
  std::thread([&error] {
    std::array filter = {sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                         sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
                         sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                         sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program = {.len = filter.size(), .filter = filter.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
    if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return;
    const auto made = make_uring_backend();
    if (!made) error = made.error();
  }).join();
  if (!error) GTEST_SKIP() << "seccomp is not available";
  EXPECT_EQ(error->code(), Errc::Unsupported);
  EXPECT_FALSE(error->message().empty());
}

#if defined(SKUA_HAS_IO_URING)
TEST(UringRing, TakesNoOperationThatALoopDoesNotNeed) {
  UringRing ring;
  if (!ring.create({})) GTEST_SKIP() << "io_uring is not available";
  const auto result_of = [&ring](const auto& prepare) {
    prepare(ring.submission());
    ring.wait(20s);
    Completion completion{};
    EXPECT_TRUE(ring.next_completion(ring.completions_end(), completion));
    return completion.result;
  };
  EXPECT_EQ(result_of([](io_uring_sqe* entry) { io_uring_prep_nop(entry); }), 0);
  EXPECT_EQ(result_of([](io_uring_sqe* entry) {
              io_uring_prep_openat(entry, AT_FDCWD, "/dev/null", O_RDONLY, 0);
            }),
            -EACCES);
  EXPECT_EQ(result_of([](io_uring_sqe* entry) {
              io_uring_prep_nop(entry);
              entry->flags = IOSQE_IO_LINK;
            }),
            -EACCES);
  EXPECT_EQ(io_uring_register(static_cast<unsigned>(ring.descriptor()), IORING_REGISTER_EVENTFD,
                              nullptr, 0),
            -EACCES);
}
#endif

}  // namespace
}  // namespace skua::loop
