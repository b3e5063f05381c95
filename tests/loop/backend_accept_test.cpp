// SPDX-License-Identifier: MIT
// Accepting, connecting, and the back end's own clock and alarm, on every back end.
#include <sys/resource.h>

#include <thread>

#include "backend_harness.hpp"

namespace skua::loop {
namespace {

class BackendAccept : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Every, BackendAccept, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// Prevents new descriptors from being opened while it lives.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Socket next(::socket(AF_UNIX, SOCK_STREAM, 0));
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next.descriptor());
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_P(BackendAccept, TakesEveryConnectionThatWaits) {
  Socket listening = listener();
  std::vector<Socket> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(client_of(listening));
  Probe probe(*backend, std::move(listening));
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 200; });
  EXPECT_TRUE(probe.accept_failures.empty());
  close_all({&probe});
}

TEST_P(BackendAccept, StopsAcceptingInsideTheCallback) {
  Socket listening = listener();
  std::vector<Socket> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(client_of(listening));
  Probe probe(*backend, std::move(listening));
  probe.after_call = [&](std::string_view) { backend->stop_accept(probe); };
  probe.start_accept();
  turn_until([&] { return !probe.accepted.empty(); });
  settle();
  EXPECT_EQ(probe.accepted.size(), 1U);
  probe.after_call = nullptr;
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 5; });
  close_all({&probe});
}

TEST_P(BackendAccept, ReportsThatDescriptorsRanOutAndGoesOnWhenAsked) {
  Socket listening = listener();
  const Socket first = client_of(listening);
  const Address address = net::local_address(listening.descriptor());
  Probe probe(*backend, std::move(listening));
  // UBSan opens descriptors when it first checks a type, so accept once before they run out.
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 1; });
  probe.stop_accept();
  settle();
  probe.accepted.clear();
  const Socket second(::socket(AF_INET, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(second.descriptor(), address.data(), address.size_bytes()), 0);
  {
    const NoMoreDescriptors shortage;
    probe.start_accept();
    turn_until([&] { return !probe.accept_failures.empty(); });
    settle();
  }
  EXPECT_EQ(probe.accept_failures.size(), 1U);
  EXPECT_EQ(probe.accept_failures.front().code(), Errc::TooManyOpenFiles);
  EXPECT_TRUE(probe.accepted.empty());
  probe.start_accept();
  turn_until([&] { return probe.accepted.size() == 1; });
  close_all({&probe});
}

TEST_P(BackendAccept, ConnectsAndThenCarriesBytesBothWays) {
  const Socket listening = listener();
  Probe probe(*backend, *net::create_socket(Address::Family::Ipv4));
  probe.connect(net::local_address(listening.descriptor()));
  turn_until([&] { return probe.connected.has_value(); });
  EXPECT_EQ(*probe.connected, Errc::None);
  const Socket peer(accept_one(listening.descriptor()));
  probe.start_receive();
  probe.send("ping");
  EXPECT_EQ(read_exactly(peer, 4, 4), "ping");
  write(peer, "pong");
  turn_until([&] { return probe.received == "pong"; });
  close_all({&probe});
}

TEST_P(BackendAccept, SaysThatAConnectionWasRefused) {
  Address address;
  {
    const Socket listening = listener();
    address = net::local_address(listening.descriptor());
  }
  Probe probe(*backend, *net::create_socket(Address::Family::Ipv4));
  probe.connect(address);
  turn_until([&] { return probe.connected.has_value(); });
  EXPECT_EQ(*probe.connected, Errc::Refused);
  close_all({&probe});
}

TEST_P(BackendAccept, SaysThatAUnixSocketIsNotThere) {
  Probe probe(*backend, *net::create_socket(Address::Family::Unix));
  probe.connect(*Address::unix_path("/nowhere/at/all"));
  EXPECT_FALSE(probe.connected.has_value());
  turn_until([&] { return probe.connected.has_value(); });
  EXPECT_EQ(*probe.connected, Errc::NotFound);
  close_all({&probe});
}

TEST_P(BackendAccept, ClosesWhileConnecting) {
  const Socket listening = listener();
  Probe probe(*backend, *net::create_socket(Address::Family::Ipv4));
  probe.connect(net::local_address(listening.descriptor()));
  close_all({&probe});
  EXPECT_FALSE(probe.connected.has_value());
}

TEST_P(BackendAccept, IsWokenByAnotherThread) {
  for (int i = 0; i < 20; ++i) {
    std::thread other([&] { backend->wake(); });
    backend->turn(Duration(-1));
    other.join();
  }
}

TEST_P(BackendAccept, AWakeUpBeforeTheTurnIsNotLost) {
  backend->wake();
  backend->wake();
  backend->turn(Duration(-1));
}

TEST_P(BackendAccept, WaitsAsLongAsItIsToldAndNotLess) {
  for (const Duration wait : {Duration(1ms), Duration(2500us), Duration(20ms)}) {
    settle();
    wait_out(wait);
  }
}

TEST_P(BackendAccept, CountsItsSystemCalls) {
  const std::uint64_t before = backend->system_calls().waits;
  backend->turn(Duration::zero());
  EXPECT_GT(backend->system_calls().total(), 0U);
  EXPECT_LE(backend->system_calls().waits, before + 1);
}

}  // namespace
}  // namespace skua::loop
