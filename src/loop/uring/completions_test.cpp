// SPDX-License-Identifier: MIT
#include "support/uring_fixture.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace skua::loop {
namespace {

// A listener, and the connections that it accepts. Each is closed once its peer has ended it.
struct Acceptor {
  explicit Acceptor(Backend& backend) {
    const auto [descriptor, where] = listening_socket();
    address = where;
    listener.when_accepted = [this, &backend](int accepted) {
      Recorder& server = servers.emplace_back();
      server.when_ended = [&backend, &server] { backend.close(server); };
      server.when_closed = [this] { ++closed_count; };
      server.when_received = [this, &server](std::span<char>) { when_received(server); };
      backend.open(server, accepted);
      backend.start_receive(server);
    };
    backend.open(listener, descriptor);
    backend.start_accept(listener);
  }

  std::function<void(Recorder&)> when_received = [](Recorder&) {};
  Recorder listener;
  sockaddr_in address{};
  std::deque<Recorder> servers;
  std::size_t closed_count = 0;
};

TEST_P(UringBackendTest, ServesMoreConnectionsThanThereAreBuffers) {
  constexpr int connection_count = 100;
  std::deque<Recorder> handles(connection_count);
  std::vector<int> peers;
  for (Recorder& handle : handles) {
    const auto [ours, peer] = socket_pair();
    backend->open(handle, ours);
    backend->start_receive(handle);
    peers.push_back(peer);
  }
  for (int round = 0; round < 20; ++round) {
    for (const int peer : peers) write_all(peer, "ten bytes.");
    turn_until([&] {
      for (const Recorder& handle : handles) {
        if (handle.received.size() != static_cast<std::size_t>(round + 1) * 10) return false;
      }
      return true;
    });
  }
  for (Recorder& handle : handles) backend->close(handle);
  for (Recorder& handle : handles) turn_until([&] { return handle.closed_calls == 1; });
  for (const int peer : peers) ::close(peer);
}

TEST_P(UringBackendTest, AcceptsAndConnectsAThousandAndClosesThemFromTheirCallbacks) {
  constexpr std::size_t connection_count = 1000;
  Acceptor acceptor(*backend);
  acceptor.when_received = [&](Recorder& server) {
    if (server.received != "hello") return;  // it may come in pieces
    backend->send(server, std::array{slice(server.received), slice("!")});
  };
  std::deque<Recorder> clients(connection_count);
  const auto* where = reinterpret_cast<const sockaddr*>(&acceptor.address);
  for (std::size_t i = 0; i < connection_count; ++i) {
    Recorder& client = clients[i];
    client.when_received = [&](std::span<char>) {
      if (client.received.ends_with('!')) backend->close(client);
    };
    backend->open(client, tcp_socket());
    backend->connect(client, where, sizeof(acceptor.address));
    if (i % 50 != 0) continue;  // some connect alone, most in bulk
    turn_until([&] { return client.connected.has_value(); });
  }
  for (Recorder& client : clients) {
    turn_until([&] { return client.connected.has_value(); });
    ASSERT_EQ(client.connected->code(), Errc::None);
    backend->start_receive(client);
    backend->send(client, std::array{slice("hello")});
  }
  for (Recorder& client : clients) turn_until([&] { return client.closed_calls == 1; });
  turn_until([&] { return acceptor.closed_count == connection_count; });
  for (const Recorder& client : clients) EXPECT_EQ(client.received, "hello!");
  close_and_wait(acceptor.listener);
}

// A multishot receive misses one such reset in some hundred.
TEST_P(UringBackendTest, NoticesEveryResetThatArrivesWithBytes) {
  constexpr std::size_t connection_count = 10'000;
  for (const bool answers : {false, true}) {
    Acceptor acceptor(*backend);
    if (answers) {
      acceptor.when_received = [&](Recorder& server) {
        if (server.received != "half a li") return;  // it may come in pieces
        backend->send(server, std::array{slice("an answer")});
      };
    }
    std::thread peer([where = acceptor.address] {
      for (std::size_t i = 0; i < connection_count; ++i) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        ASSERT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&where), sizeof where), 0);
        write_all(socket, "half a li");
        reset(socket);
      }
    });
    turn_until([&] { return acceptor.closed_count == connection_count; });
    peer.join();
    close_and_wait(acceptor.listener);
  }
}

TEST_P(UringBackendTest, TellsWhyAConnectionCannotBeMade) {
  const auto [descriptor, address] = listening_socket();
  ::close(descriptor);
  Recorder handle;
  backend->open(handle, tcp_socket());
  backend->connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  turn_until([&] { return handle.connected.has_value(); });
  EXPECT_EQ(handle.connected->code(), Errc::Refused);
  close_and_wait(handle);
}

TEST_P(UringBackendTest, AcceptsNothingBetweenStoppingAndStarting) {
  const auto [descriptor, address] = listening_socket();
  Recorder listener;
  backend->open(listener, descriptor);
  backend->start_accept(listener);
  settle();
  backend->stop_accept(listener);
  settle();
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  settle();
  EXPECT_TRUE(listener.accepted.empty());
  backend->start_accept(listener);
  backend->stop_accept(listener);
  backend->start_accept(listener);
  turn_until([&] { return listener.accepted.size() == 1; });
  ::close(listener.accepted.front());
  ::close(peer);
  close_and_wait(listener);
}

TEST_P(UringBackendTest, StopsAcceptingWithoutDescriptorsUntilStartedAgain) {
  const auto [descriptor, address] = listening_socket();
  Recorder listener;
  backend->open(listener, descriptor);
  // UBSan checks each type of object once, through a pipe: let it do so while it can open one.
  settle();
  turn_until([&] { return !listener.accept_failure.has_value(); });
  backend->start_accept(listener);
  const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  ::connect(peer, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  turn_until([&] { return listener.accept_failure.has_value(); });
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(listener.accept_failure->code(), Errc::TooManyOpenFiles);
  settle();
  EXPECT_TRUE(listener.accepted.empty());
  backend->start_accept(listener);
  turn_until([&] { return listener.accepted.size() == 1; });
  ::close(listener.accepted.front());
  ::close(peer);
  close_and_wait(listener);
}

TEST_P(UringBackendTest, CallsNothingButOnClosedAfterClosing) {
  const auto [ours, peer] = tcp_pair();
  Recorder handle;
  backend->open(handle, ours);
  backend->start_receive(handle);
  auto memory = std::make_unique<std::string>(std::size_t{64} << 20, 'm');
  backend->send(handle, std::array{slice(*memory)});
  turn_until([&] { return handle.sent_calls == 1; });  // the socket is full
  backend->send(handle, std::array{slice(*memory), slice(*memory)});
  backend->turn(0ns);
  write_all(peer, "too late");
  backend->close(handle);
  memory.reset();  // the kernel must not send from it any more
  turn_until([&] { return handle.closed_calls == 1; });
  EXPECT_EQ(handle.sent_calls, 1);
  EXPECT_EQ(handle.received, "");
  EXPECT_FALSE(handle.end.has_value());
  settle();
  EXPECT_EQ(handle.closed_calls, 1);
  ::close(peer);
}

TEST_P(UringBackendTest, MayCloseItselfAndOthersFromAnyCallback) {
  for (int round = 0; round < 50; ++round) {
    const auto [first_descriptor, first_peer] = socket_pair();
    const auto [second_descriptor, second_peer] = socket_pair();
    auto first = std::make_unique<Recorder>();
    auto second = std::make_unique<Recorder>();
    int closed_count = 0;
    const auto close_both = [&](std::span<char>) {
      backend->close(*first);
      backend->close(*second);
      backend->close(*first);
      backend->send(*first, std::array{slice("ignored")});
      backend->start_receive(*second);
    };
    first->when_received = second->when_received = close_both;
    first->when_closed = [&] { first.reset(), ++closed_count; };
    second->when_closed = [&] { second.reset(), ++closed_count; };
    backend->open(*first, first_descriptor);
    backend->open(*second, second_descriptor);
    backend->start_receive(*first);
    backend->start_receive(*second);
    write_all(first_peer, "a");
    write_all(second_peer, "b");
    turn_until([&] { return closed_count == 2; });
    ::close(first_peer);
    ::close(second_peer);
  }
}

}  // namespace
}  // namespace skua::loop
