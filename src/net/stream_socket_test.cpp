// SPDX-License-Identifier: MIT
#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "loop/sockets.hpp"
#include "skua/socket.hpp"
#include "support/descriptors.hpp"

namespace skua {
namespace {

using enum Address::Family;

const Address any_port = Address::loopback(Ipv4, 0);

struct Pair {
  TcpSocket client;
  TcpSocket server;
};

Pair connected(const Address& address = any_port) {
  auto listener = TcpSocket::listen_on(address).value();
  Pair pair;
  pair.client = TcpSocket::connect_to(listener.local_address()).value();
  pair.server = listener.accept().value();
  return pair;
}

// Sends until the system's buffers are full, and returns how much that was.
std::size_t fill(StreamSocket& socket) {
  const std::string piece(65'536, 'x');
  std::size_t sum = 0;
  while (const auto sent = socket.try_send(piece)) sum += *sent;
  return sum;
}

TEST(TcpSocket, ConnectsSendsAndReceives) {
  auto [client, server] = connected();
  EXPECT_EQ(client.peer_address(), server.local_address());
  EXPECT_EQ(client.local_address(), server.peer_address());
  ASSERT_TRUE(client.send_all("hello"));
  std::array<char, 16> room{};
  EXPECT_EQ(*server.receive(room), 5U);
  EXPECT_EQ(std::string_view(room.data(), 5), "hello");
  ASSERT_TRUE(server.send_all(bytes("gull")));
  std::array<std::byte, 4> exact{};
  ASSERT_TRUE(client.receive_all(exact));
  EXPECT_EQ(text(exact), "gull");
}

TEST(TcpSocket, TellsBytesTheEndAndAWaitApart) {
  auto [client, server] = connected();
  std::array<char, 16> room{};
  EXPECT_EQ(client.try_receive(room).error().code(), Errc::WouldBlock);
  EXPECT_EQ(client.receive(room, 1ms).error().code(), Errc::TimedOut);
  EXPECT_EQ(client.receive(room, Duration::zero()).error().code(), Errc::TimedOut);
  EXPECT_EQ(*client.try_receive(std::span<char>()), 0U);
  EXPECT_EQ(*client.try_send(std::string_view()), 0U);
  ASSERT_TRUE(server.send_all("x"));
  server.close();
  EXPECT_EQ(*client.receive(room), 1U);
  EXPECT_EQ(client.receive(room).error().code(), Errc::Closed);
}

TEST(TcpSocket, MovedFromIsInvalidAndHarmless) {
  auto [client, server] = connected();
  TcpSocket taken = std::move(client);
  EXPECT_TRUE(taken);
  // NOLINTBEGIN(bugprone-use-after-move,clang-analyzer-cplusplus.Move): what is tested
  EXPECT_FALSE(client);
  EXPECT_EQ(client.descriptor(), -1);
  std::array<char, 1> room{};
  EXPECT_EQ(client.receive(room).error().code(), Errc::Closed);
  EXPECT_EQ(client.send("x").error().code(), Errc::Closed);
  EXPECT_EQ(client.accept().error().code(), Errc::Closed);
  EXPECT_EQ(client.bind(any_port).error().code(), Errc::Closed);
  EXPECT_EQ(client.connect(any_port).error().code(), Errc::Closed);
  EXPECT_EQ(client.wait_readable().error().code(), Errc::Closed);
  EXPECT_EQ(client.set_no_delay(true).error().code(), Errc::Closed);
  EXPECT_EQ(client.take_error().code(), Errc::Closed);
  EXPECT_EQ(client.local_address(), Address());
  client.close();
  // NOLINTEND(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  taken = std::move(server);
  EXPECT_TRUE(taken);
}

TEST(TcpSocket, ListensOnAPortThatTheSystemChooses) {
  const auto listener = TcpSocket::listen_on(any_port);
  EXPECT_NE(listener->local_address().port(), 0);
  EXPECT_EQ(listener->peer_address(), Address());
}

TEST(TcpSocket, NamesTheAddressThatIsTaken) {
  const auto first = TcpSocket::listen_on(any_port);
  const Address address = first->local_address();
  const auto second = TcpSocket::listen_on(address);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::AddressInUse);
  EXPECT_EQ(second.error().error.system_code(), EADDRINUSE);
  EXPECT_TRUE(second.error().text.starts_with("could not listen on " + address.to_string() +
                                              ": the address is in use"))
      << second.error().text;
}

TEST(TcpSocket, BindsStepByStep) {
  auto socket = TcpSocket::open(Ipv4).value();
  ASSERT_TRUE(socket.set_reuse_address(true));
  ASSERT_TRUE(socket.bind(any_port));
  ASSERT_TRUE(socket.listen());
  auto client = TcpSocket::open(Ipv4).value();
  ASSERT_TRUE(client.bind(any_port));
  const Address own = client.local_address();
  ASSERT_TRUE(client.connect(socket.local_address()));
  EXPECT_EQ(socket.accept()->peer_address(), own);
  EXPECT_EQ(socket.bind(any_port).error().code(), Errc::SystemFailure);  // EINVAL: it has one
}

TEST(TcpSocket, SaysThatThePeerRefused) {
  auto closed = TcpSocket::open(Ipv4).value();
  ASSERT_TRUE(closed.bind(any_port));
  const auto socket = TcpSocket::connect_to(closed.local_address());
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code(), Errc::Refused);
  EXPECT_TRUE(socket.error().text.find(closed.local_address().to_string()) != std::string::npos);
}

TEST(TcpSocket, SaysThatNothingLeadsToAnAddress) {
  // TCP has no broadcast.
  const auto socket = TcpSocket::connect_to(*Address::parse("127.255.255.255:1"));
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code(), Errc::Unreachable);
}

TEST(TcpSocket, GivesUpConnectingWhenItsTimeIsOver) {
  auto listener = TcpSocket::listen_on(any_port, {.backlog = 1}).value();
  const Address address = listener.local_address();
  // The system drops further requests to connect once the backlog is full.
  std::vector<TcpSocket> waiting;
  Result<TcpSocket, Problem> socket = TcpSocket::connect_to(address, 50ms);
  while (socket && waiting.size() < 16) {
    waiting.push_back(*std::move(socket));
    socket = TcpSocket::connect_to(address, 50ms);
  }
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code(), Errc::TimedOut);
  EXPECT_EQ(socket.error().text,
            "could not connect to " + address.to_string() + ": the peer took too long");
}

TEST(TcpSocket, ConnectsWithoutWaiting) {
  auto listener = TcpSocket::listen_on(any_port).value();
  auto client = TcpSocket::open(Ipv4).value();
  const auto started = client.try_connect(listener.local_address());
  if (!started) {
    ASSERT_EQ(started.error().code(), Errc::WouldBlock);
  }
  ASSERT_TRUE(client.wait_writable());
  EXPECT_EQ(client.take_error().code(), Errc::None);
  EXPECT_TRUE(listener.accept());

  auto refused = TcpSocket::open(Ipv4).value();
  const Address nobody = listener.local_address();
  listener.close();
  if (const auto again = refused.try_connect(nobody);
      again || again.error().code() == Errc::WouldBlock) {
    ASSERT_TRUE(refused.wait_writable());
    EXPECT_EQ(refused.take_error().code(), Errc::Refused);
  }
}

TEST(TcpSocket, TriesEachAddressOfAName) {
  auto listener = TcpSocket::listen_on(any_port).value();
  const auto socket =
      TcpSocket::connect_to("localhost", listener.local_address().port(), Duration(10s));
  ASSERT_TRUE(socket) << socket.error().text;
  EXPECT_TRUE(*socket->no_delay());
}

TEST(TcpSocket, AcceptsNobodyForAWhile) {
  auto listener = TcpSocket::listen_on(any_port).value();
  EXPECT_EQ(listener.try_accept().error().code(), Errc::WouldBlock);
  EXPECT_EQ(listener.accept(1ms).error().code(), Errc::TimedOut);
}

TEST(TcpSocket, AcceptedConnectionsAreNonBlockingAndCloseOnExec) {
  const auto pair = connected();
  EXPECT_TRUE(support::is_non_blocking(pair.server.descriptor()));
  EXPECT_FALSE(support::is_inherited(pair.server.descriptor()));
}

TEST(TcpSocket, SendsWhatFitsAndTheRestLater) {
  auto [client, server] = connected();
  const std::size_t in_flight = fill(client);
  EXPECT_GT(in_flight, 0U);
  EXPECT_EQ(client.try_send("y").error().code(), Errc::WouldBlock);
  EXPECT_EQ(client.send("y", 1ms).error().code(), Errc::TimedOut);
  std::thread sender([&client] { EXPECT_TRUE(client.send_all(std::string(1'000'000, 'z'))); });
  std::string all(in_flight + 1'000'000, ' ');
  ASSERT_TRUE(server.receive_all(all));
  sender.join();
  EXPECT_EQ(all, std::string(in_flight, 'x') + std::string(1'000'000, 'z'));
}

TEST(TcpSocket, SendAllGivesUpWhenItsTimeIsOver) {
  auto [client, server] = connected();
  EXPECT_EQ(client.send_all(std::string(64 << 20, 'x'), 10ms).error().code(), Errc::TimedOut);
}

TEST(TcpSocket, ReportsAResetAndRaisesNoSignal) {
  auto [client, server] = connected();
  ASSERT_TRUE(server.set_linger(std::chrono::seconds(0)));
  server.close();
  std::array<char, 1> room{};
  EXPECT_EQ(client.receive(room).error().code(), Errc::Reset);
  EXPECT_EQ(client.send("x").error().code(), Errc::Closed);  // EPIPE
}

TEST(TcpSocket, HalvesCloseInEitherOrder) {
  for (const bool client_first : {true, false}) {
    auto [client, server] = connected();
    TcpSocket& first = client_first ? client : server;
    TcpSocket& second = client_first ? server : client;
    ASSERT_TRUE(first.send_all("a"));
    ASSERT_TRUE(first.shutdown_write());
    EXPECT_EQ(first.send("x").error().code(), Errc::Closed);
    std::array<char, 2> room{};
    EXPECT_EQ(*second.receive(room), 1U);
    EXPECT_EQ(second.receive(room).error().code(), Errc::Closed);
    ASSERT_TRUE(second.send_all("b"));
    ASSERT_TRUE(second.shutdown_write());
    EXPECT_EQ(*first.receive(room), 1U);
    EXPECT_EQ(first.receive(room).error().code(), Errc::Closed);
  }
}

TEST(TcpSocket, ShutdownOfReadingEndsAWait) {
  auto [client, server] = connected();
  ASSERT_TRUE(client.shutdown_read());
  std::array<char, 1> room{};
  EXPECT_EQ(client.receive(room).error().code(), Errc::Closed);
}

TEST(TcpSocket, OptionsCanBeReadBack) {
  auto [client, server] = connected();
  EXPECT_TRUE(client.set_no_delay(false));
  EXPECT_FALSE(*client.no_delay());
  EXPECT_TRUE(client.set_keep_alive(KeepAlive{.idle = 30s, .interval = 10s, .probes = 3}));
  const auto alive = client.keep_alive().value();
  ASSERT_TRUE(alive);
  EXPECT_EQ(alive->idle, 30s);
  EXPECT_EQ(alive->interval, 10s);
  EXPECT_EQ(alive->probes, 3);
  EXPECT_TRUE(client.set_keep_alive(std::nullopt));
  EXPECT_FALSE(client.keep_alive().value());
  EXPECT_TRUE(client.set_linger(5s));
  EXPECT_EQ(client.linger().value(), 5s);
  EXPECT_TRUE(client.set_linger(std::nullopt));
  EXPECT_FALSE(client.linger().value());
  EXPECT_TRUE(client.set_traffic_class(0x20));
  EXPECT_EQ(*client.traffic_class(), 0x20);
  EXPECT_TRUE(client.set_hop_limit(7));
  EXPECT_EQ(*client.hop_limit(), 7);
  EXPECT_TRUE(client.set_reuse_address(true));
  EXPECT_TRUE(*client.reuse_address());
  EXPECT_TRUE(client.set_reuse_port(true));
  EXPECT_TRUE(*client.reuse_port());
  EXPECT_TRUE(client.set_receive_buffer_bytes(65'536));
  EXPECT_GE(*client.receive_buffer_bytes(), 65'536U);
  EXPECT_TRUE(client.set_send_buffer_bytes(65'536));
  EXPECT_GE(*client.send_buffer_bytes(), 65'536U);
}

TEST(TcpSocket, BuffersGrowUnlessTheirSizeIsSet) {
  auto [client, server] = connected();
  const std::size_t tuned = fill(client);
  auto [fixed, unused] = connected();
  ASSERT_TRUE(fixed.set_send_buffer_bytes(8192));
  EXPECT_LT(fill(fixed), tuned);
}

TEST(TcpSocket, SharesAPortIfAllAskForIt) {
  const auto first = TcpSocket::listen_on(any_port, {.reuse_port = true});
  EXPECT_TRUE(TcpSocket::listen_on(first->local_address(), {.reuse_port = true}));
  EXPECT_FALSE(TcpSocket::listen_on(first->local_address()));
}

bool has_ipv6() { return TcpSocket::listen_on(Address::loopback(Ipv6, 0)).has_value(); }

TEST(TcpSocket, SpeaksIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  auto [client, server] = connected(Address::loopback(Ipv6, 0));
  EXPECT_EQ(server.peer_address().to_string().substr(0, 6), "[::1]:");
  EXPECT_TRUE(client.set_hop_limit(7));
  EXPECT_EQ(*client.hop_limit(), 7);
  EXPECT_TRUE(client.set_traffic_class(0x20));
  EXPECT_EQ(*client.traffic_class(), 0x20);
}

TEST(TcpSocket, PeersOfIpv4HaveMappedAddressesAtAnIpv6Listener) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  auto listener = TcpSocket::listen_on(Address::any(Ipv6, 0)).value();
  const std::uint16_t port = listener.local_address().port();
  const auto client = TcpSocket::connect_to(Address::loopback(Ipv4, port)).value();
  const Address peer = listener.accept()->peer_address();
  EXPECT_EQ(peer.family(), Ipv6);
  EXPECT_EQ(peer.unmapped(), client.local_address());

  const auto strict = TcpSocket::listen_on(Address::any(Ipv6, 0), {.ipv6_only = true}).value();
  EXPECT_TRUE(*strict.ipv6_only());
  const auto refused =
      TcpSocket::connect_to(Address::loopback(Ipv4, strict.local_address().port()));
  EXPECT_EQ(refused.error().code(), Errc::Refused);
}

TEST(Socket, AdoptsADescriptorAndGivesItAway) {
  std::array<int, 2> ends{};
  ASSERT_EQ(bsd::pair(ends), 0);
  ASSERT_EQ(bsd::set_blocking(ends[0], true), 0);
  UnixSocket adopted(Socket::adopt(ends[0]).value());
  EXPECT_TRUE(support::is_non_blocking(ends[0]));
  EXPECT_FALSE(support::is_inherited(ends[0]));
  ASSERT_TRUE(adopted.send_all("x"));
  const int descriptor = adopted.release();
  EXPECT_FALSE(adopted);
  EXPECT_TRUE(support::is_open_socket(descriptor));
  bsd::close(descriptor);
  bsd::close(ends[1]);
  EXPECT_EQ(Socket::adopt(-1).error().code(), Errc::Closed);
}

TEST(UnixSocket, APairIsConnected) {
  auto [first, second] = UnixSocket::pair().value();
  ASSERT_TRUE(first.send_all("x"));
  std::array<char, 1> room{};
  EXPECT_TRUE(second.receive_all(room));
  first.close();
  EXPECT_EQ(second.send("x").error().code(), Errc::Closed);
}

}  // namespace
}  // namespace skua
