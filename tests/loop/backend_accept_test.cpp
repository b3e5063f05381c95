// SPDX-License-Identifier: MIT
// Accepting, connecting, and the back end's own clock and alarm, on every back end.
#include <thread>

#include "backend_harness.hpp"

namespace skua::loop {
namespace {

class BackendAccept : public BackendTest {};
INSTANTIATE_TEST_SUITE_P(Every, BackendAccept, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

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

TEST_P(BackendAccept, ConnectsAndThenCarriesBytesBothWays) {
  const Socket listening = listener();
  Probe probe(*backend, *net::create_socket(Address::Family::Ipv4));
  probe.connect(net::local_address(listening.descriptor()));
  turn_until([&] { return probe.connected.has_value(); });
  EXPECT_EQ(*probe.connected, Errc::None);
  const Socket peer(bsd::accept_one(listening.descriptor()));
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
  Result<Socket> socket = net::create_socket(Address::Family::Unix);
  if (!socket) GTEST_SKIP() << "the system has no Unix sockets";
  Probe probe(*backend, *std::move(socket));
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
