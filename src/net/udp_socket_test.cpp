// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "skua/socket.hpp"

namespace skua {
namespace {

using enum Address::Family;

UdpSocket bound(Address::Family family = Ipv4) {
  auto socket = UdpSocket::open(family).value();
  EXPECT_TRUE(socket.bind(Address::loopback(family, 0)));
  return socket;
}

bool has_ipv6() {
  auto socket = UdpSocket::open(Ipv6);
  return socket && socket->bind(Address::loopback(Ipv6, 0));
}

TEST(UdpSocket, SendsToAnyAddressAndTellsTheSender) {
  UdpSocket first = bound();
  UdpSocket second = bound();
  ASSERT_TRUE(first.send_to(second.local_address(), "hello"));
  std::array<char, 16> room{};
  const auto datagram = second.receive(room);
  ASSERT_TRUE(datagram);
  EXPECT_EQ(std::string_view(room.data(), datagram->size_bytes), "hello");
  EXPECT_EQ(datagram->from, first.local_address());
  EXPECT_FALSE(datagram->is_truncated);
}

TEST(UdpSocket, SpeaksIpv6) {
  if (!has_ipv6()) GTEST_SKIP() << "no IPv6 on this machine";
  UdpSocket first = bound(Ipv6);
  UdpSocket second = bound(Ipv6);
  ASSERT_TRUE(first.send_to(second.local_address(), "hello"));
  std::array<char, 16> room{};
  EXPECT_EQ(second.receive(room)->from, first.local_address());
}

TEST(UdpSocket, ConnectedHearsItsPeerOnly) {
  UdpSocket first = bound();
  UdpSocket second = bound();
  UdpSocket stranger = bound();
  ASSERT_TRUE(first.connect(second.local_address()));
  EXPECT_EQ(first.peer_address(), second.local_address());
  ASSERT_TRUE(stranger.send_to(first.local_address(), "no"));
  ASSERT_TRUE(first.send("ping"));
  std::array<char, 16> room{};
  const Address from = second.receive(room)->from;
  ASSERT_TRUE(second.send_to(from, "pong"));
  EXPECT_EQ(first.receive(room)->size_bytes, 4U);
  EXPECT_EQ(std::string_view(room.data(), 4), "pong");
}

TEST(UdpSocket, EmptyDatagramsAreDatagrams) {
  UdpSocket first = bound();
  UdpSocket second = bound();
  ASSERT_TRUE(first.send_to(second.local_address(), ""));
  std::array<char, 16> room{};
  const auto datagram = second.receive(room);
  ASSERT_TRUE(datagram);
  EXPECT_EQ(datagram->size_bytes, 0U);
  EXPECT_EQ(datagram->from, first.local_address());
}

TEST(UdpSocket, SendsTheLongestDatagramAndNoLonger) {
  UdpSocket first = bound();
  UdpSocket second = bound();
  const std::string longest(65'507, 'x');
  ASSERT_TRUE(first.send_to(second.local_address(), longest));
  std::string room(longest.size() + 1, ' ');
  EXPECT_EQ(second.receive(room)->size_bytes, longest.size());
  const auto longer = first.send_to(second.local_address(), longest + "x");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code(), Errc::DatagramTooLong);
}

TEST(UdpSocket, MarksADatagramThatWasCut) {
  UdpSocket first = bound();
  UdpSocket second = bound();
  ASSERT_TRUE(first.send_to(second.local_address(), "hello"));
  ASSERT_TRUE(first.send_to(second.local_address(), "next"));
  std::array<char, 4> room{};
  const auto cut = second.receive(room);
  EXPECT_TRUE(cut->is_truncated);
  EXPECT_EQ(cut->size_bytes, 4U);
  const auto next = second.receive(room);
  EXPECT_FALSE(next->is_truncated);
  EXPECT_EQ(std::string_view(room.data(), next->size_bytes), "next");
}

TEST(UdpSocket, ConnectedLearnsThatNobodyIsThere) {
  UdpSocket socket = bound();
  {
    const UdpSocket gone = bound();
    ASSERT_TRUE(socket.connect(gone.local_address()));
  }
  ASSERT_TRUE(socket.send("x"));
  std::array<char, 4> room{};
  EXPECT_EQ(socket.receive(room).error().code(), Errc::Refused);  // ICMP port unreachable
  EXPECT_EQ(socket.try_receive(room).error().code(), Errc::WouldBlock);
}

TEST(UdpSocket, WaitsNoLongerThanItMay) {
  UdpSocket socket = bound();
  std::array<char, 4> room{};
  EXPECT_EQ(socket.try_receive(room).error().code(), Errc::WouldBlock);
  EXPECT_EQ(socket.receive(room, 1ms).error().code(), Errc::TimedOut);
}

TEST(UdpSocket, NeedsAPeerToSend) {
  UdpSocket socket = bound();
  EXPECT_EQ(socket.send("x").error().code(), Errc::Closed);
  EXPECT_EQ(UdpSocket().send("x").error().code(), Errc::Closed);
  EXPECT_EQ(UdpSocket::open(Unix).error().code(), Errc::InvalidAddress);
}

TEST(UdpSocket, BroadcastsOnlyIfAsked) {
  UdpSocket socket = bound();
  const Address everybody = *Address::parse("127.255.255.255:9");
  EXPECT_EQ(socket.send_to(everybody, "x").error().code(), Errc::PermissionDenied);
  ASSERT_TRUE(socket.set_broadcast(true));
  EXPECT_TRUE(*socket.broadcast());
  EXPECT_TRUE(socket.send_to(everybody, "x"));
}

// Not loopback, which has no multicast over IPv6, and loops whatever it is told.
std::uint32_t interface_for(Address::Family family) {
  for (const NetworkInterface& interface : network_interfaces().value()) {
    const bool has_family = std::ranges::any_of(
        interface.addresses, [family](const Address& own) { return own.family() == family; });
    if (interface.is_up && interface.has_multicast && !interface.is_loopback && has_family) {
      return interface.index;
    }
  }
  return 0;
}

// Nothing leaves the machine: there are no hops to make.
class Multicast : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (interface_ == 0) GTEST_SKIP() << "no interface with multicast";
    member_ = UdpSocket::open(group_.family()).value();
    ASSERT_TRUE(member_.bind(Address::any(group_.family(), 0)));
    group_ = group_.with_port(member_.local_address().port());
    sender_ = UdpSocket::open(group_.family()).value();
    const auto chosen = sender_.set_multicast_interface(interface_);
    if (!chosen && chosen.error().system_code() == ENOPROTOOPT) {
      GTEST_SKIP() << "an emulated kernel without IP_MULTICAST_IF";  // QEMU
    }
    ASSERT_TRUE(chosen) << chosen.error().system_code();
    ASSERT_TRUE(sender_.set_multicast_hops(0));
  }

  std::string next() {
    std::array<char, 16> room{};
    const auto datagram = member_.receive(room, Duration(10s));
    return datagram ? std::string(room.data(), datagram->size_bytes) : std::string("nothing");
  }
  // Sends to the group, then to the member itself; returns what the member receives first.
  std::string next_of_two() {
    EXPECT_TRUE(sender_.send_to(group_, "to the group"));
    EXPECT_TRUE(sender_.send_to(Address::loopback(group_.family(), group_.port()), "to it"));
    return next();
  }

  Address group_ = *Address::parse(GetParam(), 0);
  std::uint32_t interface_ = interface_for(group_.family());
  UdpSocket member_;
  UdpSocket sender_;
};

TEST_P(Multicast, ReachesMembersUntilTheyLeave) {
  EXPECT_EQ(next_of_two(), "to it");
  ASSERT_TRUE(member_.join(group_, interface_));
  EXPECT_TRUE(sender_.send_to(group_, "gulls"));
  EXPECT_EQ(next(), "gulls");
  ASSERT_TRUE(member_.leave(group_, interface_));
  EXPECT_EQ(next_of_two(), "to it");
  EXPECT_FALSE(member_.leave(group_, interface_));
}

TEST_P(Multicast, IsNotHeardByItsOwnMachineIfItIsNotLooped) {
  EXPECT_TRUE(*sender_.multicast_loop());
  ASSERT_TRUE(sender_.set_multicast_loop(false));
  EXPECT_FALSE(*sender_.multicast_loop());
  ASSERT_TRUE(member_.join(group_, interface_));
  EXPECT_EQ(next_of_two(), "to it");
}

TEST_P(Multicast, GoesAsFarAsItMay) {
  EXPECT_EQ(*UdpSocket::open(group_.family())->multicast_hops(), 1);
  ASSERT_TRUE(sender_.set_multicast_hops(4));
  EXPECT_EQ(*sender_.multicast_hops(), 4);
}

TEST_P(Multicast, JoinsGroupsOnly) {
  const auto joined = member_.join(Address::loopback(group_.family(), 0));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), Errc::InvalidAddress);
  EXPECT_TRUE(joined.error().text.starts_with("could not join "));
}

INSTANTIATE_TEST_SUITE_P(Families, Multicast, testing::Values("239.255.0.71", "ff11::71"),
                         [](const auto& tested) {
                           return std::string_view(tested.param).starts_with("f") ? "Ipv6" : "Ipv4";
                         });

}  // namespace
}  // namespace skua
