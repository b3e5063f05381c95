// SPDX-License-Identifier: MIT
// Sockets on a loop on a bad day of the network, on every back end.
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/socket.hpp"
#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/stream.hpp"
#include "skua/tcp_server.hpp"
#include "skua/udp_stream.hpp"
#include "support/allocations.hpp"
#include "support/held_files.hpp"
#include "support/privilege.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

using enum Address::Family;

const Address any_port = Address::loopback(Ipv4, 0);

struct Echo {
  static void on_readable(TcpConnection& client) {
    client.send(client.input());
    client.consume_all();
  }
};

/// Runs turns until `is_done` or for ten seconds; returns whether it was the former.
template <class Turn, class Condition>
bool turn_until(const Turn& turn, const Condition& is_done) {
  const auto begin = std::chrono::steady_clock::now();
  while (!is_done()) {
    if (std::chrono::steady_clock::now() - begin > 10s) return false;
    turn();
  }
  return true;
}

template <class Server, class Condition>
bool serve_until(Server& server, const Condition& is_done) {
  return turn_until([&] { EXPECT_TRUE(server.poll(10ms)); }, is_done);
}

class EdgeCases : public ::testing::TestWithParam<BackendChoice> {
 protected:
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }
  Errc failure_to_connect(const Address& address, Duration patience = 10s) {
    const auto stream = run(TcpStream::connect(address, patience));
    return stream ? Errc::None : stream.error().code();
  }
  /// Connects two streams.
  std::pair<TcpStream, TcpStream> connected() {
    auto listener = Listener::listen(any_port).value();
    const auto both = [](Listener& at) -> Task<std::pair<TcpStream, TcpStream>> {
      auto here = co_await TcpStream::connect(at.address());
      auto there = co_await at.accept();
      std::pair<TcpStream, TcpStream> ends(std::move(here).value(), std::move(there).value());
      co_return ends;
    };
    return run(both(listener));
  }
  template <class Condition>
  bool turn_until(const Condition& is_done) {
    return skua::turn_until([&] { loop->poll(10ms); }, is_done);
  }

  /// Begins to give the socket of a stream away.
  void begin_release(TcpStream& stream, std::optional<TcpStream::Released>& to) {
    loop->spawn(stream.release(), [&to](Result<TcpStream::Released> released) {
      to.emplace(std::move(released).value());
    });
  }

  const std::unique_ptr<Loop> loop = Loop::create({.backend = GetParam()}).value();
};

// Addresses ---------------------------------------------------------------------------------------

TEST_P(EdgeCases, NobodyIsThere) {
  const support::TemporaryDirectory folder;
  const Address stale = Address::unix_path(folder.string() + "/stale").value();
  static_cast<void>(UnixSocket::listen_on(stale).value());  // closed again; the file stays
  auto silent = TcpSocket::open(Ipv4).value();
  ASSERT_TRUE(silent.bind(any_port));

  struct Case {
    std::string_view name;
    Address address;
    Errc expected;
  };
  const std::array cases{
      Case{"a port at which nobody listens", silent.local_address(), Errc::Refused},
      Case{"a broadcast address", Address::parse("127.255.255.255:1").value(), Errc::Unreachable},
      Case{"everybody", Address::parse("255.255.255.255:1").value(), Errc::Unreachable},
      Case{"a group", Address::parse("224.0.0.1:1").value(), Errc::Unreachable},
      Case{"a stale Unix socket", stale, Errc::Refused},
      Case{"no file", Address::unix_path(folder.string() + "/none").value(), Errc::NotFound},
      Case{"no address", Address(), Errc::InvalidAddress},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(message(failure_to_connect(one.address)), message(one.expected)) << one.name;
  }
}

TEST_P(EdgeCases, AnAddressCannotBeListenedAt) {
  const support::TemporaryDirectory folder;
  auto taken = Listener::listen(any_port).value();
  auto datagrams = UdpStream::bind(any_port).value();
  struct Case {
    std::string_view name;
    Address address;
    Errc expected;
  };
  const std::array cases{
      Case{"a taken port", taken.address(), Errc::AddressInUse},
      Case{"an address of another machine", Address::parse("192.0.2.1:0").value(),
           Errc::AddressUnavailable},
      Case{"a folder that is missing", Address::unix_path(folder.string() + "/none/socket").value(),
           Errc::NotFound},
      Case{"a file that is not a socket", Address::unix_path(folder.string()).value(),
           Errc::AddressInUse},
  };
  for (const Case& one : cases) {
    const auto listener = Listener::listen(one.address);
    ASSERT_FALSE(listener) << one.name;
    EXPECT_EQ(message(listener.error().code()), message(one.expected)) << one.name;
  }
  EXPECT_EQ(UdpStream::bind(datagrams.socket().local_address()).error().code(), Errc::AddressInUse);
  EXPECT_NE(taken.address().port(), 0);  // the system chose one
}

TEST_P(EdgeCases, AServerListensOnceItsAddressIsFree) {
  const support::TemporaryDirectory folder;
  const std::string host = "unix:" + (folder.path() / "socket").string();
  const Address address = Address::parse(host).value();
  std::optional<UnixSocket> taken(UnixSocket::listen_on(address).value());
  TcpServer<Echo> server({.host = host, .backend = GetParam()});
  for (int i = 0; i < 2; ++i) {
    const auto listening = server.listen();
    ASSERT_FALSE(listening);
    EXPECT_EQ(listening.error().code(), Errc::AddressInUse);
  }
  const auto served = server.poll();
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().code(), Errc::AddressInUse);
  EXPECT_EQ(server.run().error().code(), Errc::AddressInUse);
  taken.reset();
  ASSERT_TRUE(server.listen());
  EXPECT_EQ(server.listen().error().code(), Errc::AlreadyStarted);
  auto client = UnixSocket::connect_to(address).value();
  ASSERT_TRUE(client.send_all("x"));
  ASSERT_TRUE(serve_until(server, [&] { return client.wait_readable(Duration(0)).has_value(); }));
  std::array<char, 1> room;
  EXPECT_EQ(client.receive(room).value(), 1U);
  client.close();
  server.request_stop();
  EXPECT_TRUE(server.run());
}

TEST_P(EdgeCases, APortIsPrivileged) {
  if (!support::has_privileged_ports()) GTEST_SKIP() << "this machine has no privileged ports";
  support::without_privilege([] {
    const auto own = Loop::create({.backend = GetParam()}).value();
    const Address privileged = Address::loopback(Ipv4, 1);
    EXPECT_EQ(Listener::listen(privileged).error().code(), Errc::PermissionDenied);
    EXPECT_EQ(UdpStream::bind(privileged).error().code(), Errc::PermissionDenied);
    TcpServer<Echo> server({.host = "127.0.0.1", .port = 1, .backend = GetParam()});
    EXPECT_EQ(server.run().error().code(), Errc::PermissionDenied);
  });
}

TEST_P(EdgeCases, APeerThatAcceptsNobodyIsGivenUp) {
  const auto listener = TcpSocket::listen_on(any_port, {.backlog = 1}).value();
  std::vector<TcpStream> waiting;
  Errc failure = Errc::None;
  while (failure == Errc::None && waiting.size() < 16) {
    auto stream = run(TcpStream::connect(listener.local_address(), 50ms));
    if (stream) waiting.push_back(*std::move(stream));
    failure = stream ? Errc::None : stream.error().code();
  }
  EXPECT_EQ(failure, Errc::TimedOut);
}

TEST_P(EdgeCases, PeersOfIpv4LookLikeThemselvesToAFilterAndMappedToAnIpv6Listener) {
  auto listener = Listener::listen(Address::any(Ipv6, 0));
  if (!listener) GTEST_SKIP() << listener.error().text;
  const auto accept = [](Listener& at) -> Task<Address> {
    const Address to = Address::loopback(Ipv4, at.address().port());
    const auto here = co_await TcpStream::connect(to);
    const auto there = co_await at.accept();
    EXPECT_EQ(there->peer_address().unmapped(), here->local_address());
    co_return there->peer_address();
  };
  EXPECT_TRUE(run(accept(*listener)).to_string().starts_with("[::ffff:127.0.0.1]:"));

  std::optional<Address> seen;
  TcpServer<Echo> server({.host = "::", .backend = GetParam(), .accepts = [&](const Address& peer) {
                            seen = peer;
                            return true;
                          }});
  ASSERT_TRUE(server.listen());
  const auto client =
      TcpSocket::connect_to(Address::loopback(Ipv4, server.address().port())).value();
  ASSERT_TRUE(serve_until(server, [&] { return seen.has_value(); }));
  EXPECT_EQ(*seen, client.local_address());
}

// Streams -----------------------------------------------------------------------------------------

TEST_P(EdgeCases, ASendThatIsStuckEndsWithTheConnection) {
  auto [here, there] = connected();
  const std::string much(32_MiB, 'x');
  Errc ended = Errc::None;
  loop->spawn(here.send(much), [&](const Result<void>& sent) { ended = sent.error().code(); });
  EXPECT_GT(here.unsent_bytes(), 0U);
  there.close();  // with bytes unread: a reset
  EXPECT_TRUE(turn_until([&] { return ended != Errc::None; }));
  EXPECT_TRUE(ended == Errc::Reset || ended == Errc::Closed) << message(ended);
  here.write("nothing is left to go to");
  EXPECT_FALSE(run(here.send("x")));
  EXPECT_FALSE(run(here.shutdown_write()));
}

TEST_P(EdgeCases, CallbacksHearOfAResetOnce) {
  auto [here, there] = connected();
  std::vector<Errc> ends;
  here.on_receive([](std::string_view) {});
  here.on_end([&](Error why) { ends.push_back(why.code()); });
  auto released = run(there.release()).value();
  ASSERT_TRUE(released.socket.set_linger(0s));
  released.socket.close();
  EXPECT_TRUE(turn_until([&] { return !ends.empty(); }));
  for (int i = 0; i < 4; ++i) loop->poll();
  EXPECT_EQ(ends, std::vector{Errc::Reset});
}

TEST_P(EdgeCases, ACallbackForBytesGivesTheSocketAway) {
  auto [here, there] = connected();
  std::string received;
  std::optional<TcpStream::Released> released;
  there.on_receive([&](std::string_view bytes) {
    received += bytes;
    begin_release(there, released);
  });
  here.write("x");
  ASSERT_TRUE(turn_until([&] { return released.has_value(); }));
  EXPECT_EQ(received, "x");
  EXPECT_EQ(released->received, "");
  std::array<char, 7> room;
  EXPECT_TRUE(run(here.send("to hand")));
  EXPECT_TRUE(released->socket.receive_all(room, 10s));
  EXPECT_TRUE(released->socket.send_all("by hand", 10s));
  EXPECT_TRUE(run(here.receive_all(room)));
}

TEST_P(EdgeCases, ACallbackForTheEndGivesTheSocketAway) {
  auto [here, there] = connected();
  std::optional<TcpStream::Released> released;
  there.on_receive([](std::string_view) {});
  there.on_end([&](Error why) {
    EXPECT_EQ(why.code(), Errc::None);
    begin_release(there, released);
  });
  EXPECT_TRUE(run(here.shutdown_write()));
  ASSERT_TRUE(turn_until([&] { return released.has_value(); }));
  std::array<char, 7> room;
  EXPECT_EQ(released->socket.receive(room, 10s).error().code(), Errc::Closed);
  EXPECT_TRUE(released->socket.send_all("by hand", 10s));
  EXPECT_TRUE(run(here.receive_all(room)));
}

TEST_P(EdgeCases, ACallbackForAnEmptyQueueGivesTheSocketAway) {
  auto [here, there] = connected();
  const std::string much(16_MiB, 'x');
  std::string received;
  std::optional<TcpStream::Released> released;
  here.on_sent([&](Error why) {
    EXPECT_EQ(why.code(), Errc::None);
    begin_release(here, released);
  });
  here.write(much);
  loop->poll();
  EXPECT_GT(here.unsent_bytes(), 0U);  // the rest goes once the peer receives
  there.on_receive([&](std::string_view bytes) { received += bytes; });
  ASSERT_TRUE(turn_until([&] { return released.has_value(); }));
  ASSERT_TRUE(turn_until([&] { return received.size() == much.size(); }));
  EXPECT_TRUE(released->socket.send_all("by hand", 10s));
  ASSERT_TRUE(turn_until([&] { return received.size() == much.size() + 7; }));
  EXPECT_TRUE(received == much + "by hand");
}

/// Answers once its client has ended its side.
struct AfterTheEnd {
  static void on_readable(TcpConnection&) {}
  static Decision on_end(TcpConnection& client) {
    client.send(client.input());
    client.consume_all();
    return Decision::Disconnect;
  }
};

TEST_P(EdgeCases, AServerAnswersAfterItsClientsEnd) {
  TcpServer<AfterTheEnd> server({.host = "127.0.0.1", .backend = GetParam()});
  ASSERT_TRUE(server.listen());
  auto client = TcpSocket::connect_to(server.address()).value();
  ASSERT_TRUE(client.send_all("the last words"));
  ASSERT_TRUE(client.shutdown_write());
  ASSERT_TRUE(serve_until(server, [&] { return client.wait_readable(Duration(0)).has_value(); }));
  std::array<char, 64> room;
  EXPECT_EQ(client.receive(room).value(), 14U);
  ASSERT_TRUE(serve_until(server, [&] { return server.client_count() == 0; }));
  EXPECT_EQ(client.receive(room, 10s).error().code(), Errc::Closed);
}

// Descriptors -------------------------------------------------------------------------------------

/// Leaves the process no free descriptor while it lives.
class NoDescriptorLeft {
 public:
  NoDescriptorLeft() : limit_(lowest_free()) {}

 private:
  static std::size_t lowest_free() {
    const Socket next = net::create_socket(Ipv4).value();
    return static_cast<std::size_t>(next.descriptor());
  }
  support::OpenFilesLimit limit_;
};

bool is_ended(TcpSocket& socket) {
  std::array<char, 1> room;
  const auto count = socket.try_receive(room);
  return !count && count.error().code() != Errc::WouldBlock;
}

TEST_P(EdgeCases, AListenerWithoutDescriptorsShedsOneAndResumes) {
  auto listener = Listener::listen(any_port).value();
  std::vector<TcpStream> accepted;
  listener.on_accept([&](TcpStream stream) { accepted.push_back(std::move(stream)); });
  const auto before = TcpSocket::connect_to(listener.address()).value();
  ASSERT_TRUE(turn_until([&] { return accepted.size() == 1; }));
  std::vector<TcpSocket> clients;
  {
    auto first = TcpSocket::open(Ipv4).value();
    auto second = TcpSocket::open(Ipv4).value();
    const NoDescriptorLeft none;
    ASSERT_TRUE(first.connect(listener.address()));
    ASSERT_TRUE(second.connect(listener.address()));
    ASSERT_TRUE(turn_until([&] { return is_ended(first); }));
    EXPECT_FALSE(is_ended(second));
    clients.push_back(std::move(second));
  }
  EXPECT_TRUE(turn_until([&] { return accepted.size() == 2; }));
}

TEST_P(EdgeCases, AServerWithoutDescriptorsShedsOneAndResumes) {
  std::vector<std::string> log;
  TcpServer<Echo> server({.host = "127.0.0.1",
                          .backend = GetParam(),
                          .log = [&](LogLevel, std::string_view line) { log.emplace_back(line); }});
  ASSERT_TRUE(server.listen());
  const auto before = TcpSocket::connect_to(server.address()).value();
  ASSERT_TRUE(serve_until(server, [&] { return server.client_count() == 1; }));
  auto first = TcpSocket::open(Ipv4).value();
  auto second = TcpSocket::open(Ipv4).value();
  {
    const NoDescriptorLeft none;
    ASSERT_TRUE(first.connect(server.address()));
    ASSERT_TRUE(second.connect(server.address()));
    ASSERT_TRUE(serve_until(server, [&] { return is_ended(first); }));
    EXPECT_FALSE(is_ended(second));
    EXPECT_FALSE(log.empty());
  }
  EXPECT_TRUE(serve_until(server, [&] { return server.client_count() == 2; }));
}

// A client that was served once costs little while it is idle: half as much again as a connection
// of HTTP.
TEST_P(EdgeCases, AnIdleClientCostsLittleMemory) {
  constexpr std::size_t count = 200;
  TcpServer<Echo> server({.host = "127.0.0.1", .backend = GetParam()});
  ASSERT_TRUE(server.listen());
  std::vector<TcpSocket> clients;
  const auto serve_more = [&](std::size_t more) {
    for (std::size_t i = 0; i < more; ++i) {
      clients.push_back(TcpSocket::connect_to(server.address()).value());
      ASSERT_TRUE(clients.back().send_all("hello"));
      ASSERT_TRUE(serve_until(
          server, [&] { return clients.back().wait_readable(Duration(0)).has_value(); }));
    }
  };
  clients.reserve(2 * count);
  serve_more(count);  // what is allocated once, is by now
  const std::int64_t before = testing::allocations().live_bytes;
  serve_more(count);
  const std::int64_t grown = testing::allocations().live_bytes - before;
  EXPECT_LE(grown / std::int64_t{count}, 400);
}

// Datagrams ---------------------------------------------------------------------------------------

TEST_P(EdgeCases, CallbacksHearOfEmptyAndLongestDatagramsAndOfICMP) {
  auto server = UdpStream::bind(any_port).value();
  std::optional<UdpStream> client(UdpStream::connect(server.socket().local_address()).value());
  std::vector<std::size_t> sizes;
  server.on_receive([&](const Result<Datagram>& datagram, std::string_view bytes) {
    EXPECT_TRUE(datagram);
    sizes.push_back(bytes.size());
  });
  const std::string longest(65'507, 'x');
  EXPECT_TRUE(run(client->send("")));
  EXPECT_TRUE(run(client->send(longest)));
  EXPECT_EQ(run(client->send(longest + "x")).error().code(), Errc::DatagramTooLong);
  EXPECT_TRUE(turn_until([&] { return sizes.size() == 2; }));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{0, longest.size()}));

  auto silent = UdpSocket::open(Ipv4).value();
  ASSERT_TRUE(silent.bind(any_port));
  client = UdpStream::connect(silent.local_address()).value();
  silent.close();
  Errc heard = Errc::None;
  client->on_receive([&](const Result<Datagram>& datagram, std::string_view bytes) {
    EXPECT_TRUE(bytes.empty());
    heard = datagram ? Errc::None : datagram.error().code();
  });
  EXPECT_TRUE(run(client->send("is anybody there?")));
  EXPECT_TRUE(turn_until([&] { return heard != Errc::None; }));
  EXPECT_EQ(heard, Errc::Refused);
}

INSTANTIATE_TEST_SUITE_P(Backends, EdgeCases, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
