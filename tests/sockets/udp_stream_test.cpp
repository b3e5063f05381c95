// SPDX-License-Identifier: MIT
// UDP sockets on a loop, on every back end.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "skua/async.hpp"
#include "skua/loop.hpp"
#include "skua/udp_stream.hpp"
#include "support/test_server.hpp"

namespace skua {
namespace {

class Udp : public ::testing::TestWithParam<BackendChoice> {
 protected:
  static UdpStream bound(Address::Family family = Address::Family::Ipv4) {
    return UdpStream::bind(Address::loopback(family, 0)).value();
  }
  template <class T>
  T run(Task<T> task) {
    return loop->run(std::move(task));
  }

  const std::unique_ptr<Loop> loop = Loop::create({.backend = GetParam()}).value();
  std::vector<char> room = std::vector<char>(65'536);
};

TEST_P(Udp, DatagramsGoBothWaysOverBothFamilies) {
  for (const auto family : {Address::Family::Ipv4, Address::Family::Ipv6}) {
    auto server = bound(family);
    auto client = UdpStream::connect(server.socket().local_address()).value();
    EXPECT_TRUE(run(client.send("ping")));
    const auto ping = run(server.receive(room)).value();
    EXPECT_EQ(std::string_view(room.data(), ping.size_bytes), "ping");
    EXPECT_EQ(ping.from, client.socket().local_address());
    EXPECT_TRUE(run(server.send_to(ping.from, "pong")));
    EXPECT_EQ(run(client.receive(room)).value().size_bytes, 4U);
  }
}

TEST_P(Udp, EmptyLargestTooLongAndTruncatedDatagrams) {
  auto server = bound();
  auto client = UdpStream::connect(server.socket().local_address()).value();
  EXPECT_TRUE(run(client.send("")));
  EXPECT_EQ(run(server.receive(room)).value().size_bytes, 0U);
  const std::string largest(65'507, 'x');
  EXPECT_TRUE(run(client.send(largest)));
  EXPECT_EQ(run(server.receive(room)).value().size_bytes, largest.size());
  EXPECT_EQ(run(client.send(largest + "x")).error().code(), Errc::DatagramTooLong);
  EXPECT_TRUE(run(client.send("truncated")));
  const auto truncated = run(server.receive(std::span(room).first(4))).value();
  EXPECT_EQ(truncated.size_bytes, 4U);
  EXPECT_TRUE(truncated.is_truncated);
}

TEST_P(Udp, WaitsAndTimesOut) {
  auto server = bound();
  EXPECT_EQ(run(server.receive(room, 1ms)).error().code(), Errc::TimedOut);
  auto client = UdpStream::connect(server.socket().local_address()).value();
  std::optional<Datagram> received;
  loop->spawn(server.receive(room), [&](const Result<Datagram>& datagram) {
    received = datagram.value();
    loop->stop();
  });
  loop->spawn(client.send("x"), [](const Result<void>& sent) { EXPECT_TRUE(sent); });
  loop->run();
  EXPECT_EQ(received->size_bytes, 1U);
}

TEST_P(Udp, ReportsThatNobodyListens) {
  const Address gone = [] {
    auto server = bound();
    return server.socket().local_address();
  }();
  loop->poll();
  loop->poll();  // io_uring closes in the background
  auto client = UdpStream::connect(gone).value();
  EXPECT_TRUE(run(client.send("x")));
  EXPECT_EQ(run(client.receive(room, 10s)).error().code(), Errc::Refused);
}

TEST_P(Udp, CallsBackWithEachDatagram) {
  auto server = bound();
  auto client = UdpStream::connect(server.socket().local_address()).value();
  std::vector<std::string> received;
  server.on_receive([&](const Result<Datagram>& datagram, std::string_view bytes) {
    EXPECT_TRUE(datagram);
    received.emplace_back(bytes);
    if (received.size() == 3) loop->stop();
  });
  for (const char* const text : {"one", "", "three"}) EXPECT_TRUE(run(client.send(text)));
  loop->run();
  EXPECT_EQ(received, (std::vector<std::string>{"one", "", "three"}));
}

TEST_P(Udp, ACallbackMayDestroyItsSocket) {
  std::optional<UdpStream> server(bound());
  auto client = UdpStream::connect(server->socket().local_address()).value();
  server->on_receive([&](const Result<Datagram>&, std::string_view) {
    server.reset();
    loop->stop();
  });
  EXPECT_TRUE(run(client.send("x")));
  loop->run();
  EXPECT_FALSE(server.has_value());
}

TEST_P(Udp, DestroyingTheSocketEndsWhatWaits) {
  std::optional<UdpStream> server(bound());
  Errc ended = Errc::None;
  loop->spawn(server->receive(room), [&](const Result<Datagram>& result) {
    ended = result.error().code();
    loop->stop();
  });
  loop->post([&] { server.reset(); });
  loop->run();
  EXPECT_EQ(ended, Errc::Closed);
}

TEST_P(Udp, ATakenPortIsAProblem) {
  auto server = bound();
  const auto taken = UdpStream::bind(server.socket().local_address());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Errc::AddressInUse);
}

TEST_P(Udp, GroupsReceiveWhatIsSentToThem) {
  const auto interfaces = network_interfaces().value();
  const auto loopback = std::ranges::find_if(interfaces, &NetworkInterface::is_loopback);
  ASSERT_NE(loopback, interfaces.end());
  const auto group = Address::parse("239.255.0.73", 0).value();
  auto member = UdpStream::bind(Address::any(Address::Family::Ipv4, 0)).value();
  EXPECT_TRUE(member.socket().join(group, loopback->index));
  auto sender = bound();
  EXPECT_TRUE(sender.socket().set_multicast_interface(loopback->index));
  const Address to = group.with_port(member.socket().local_address().port());
  EXPECT_TRUE(run(sender.send_to(to, "hello")));
  EXPECT_EQ(run(member.receive(room, 10s)).value().size_bytes, 5U);
}

INSTANTIATE_TEST_SUITE_P(Backends, Udp, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
