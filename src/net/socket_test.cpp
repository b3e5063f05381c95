// SPDX-License-Identifier: MIT
#include "net/socket.hpp"

#include <cerrno>

#include <gtest/gtest.h>

#include "support/descriptors.hpp"

namespace skua::net {
namespace {

const Address any_port = *Address::parse("127.0.0.1:0");

TEST(Socket, ClosesItsDescriptorUnlessReleased) {
  Socket first = *create_socket(Address::Family::Ipv4);
  const int descriptor = first.descriptor();
  EXPECT_TRUE(support::is_non_blocking(descriptor));
  EXPECT_FALSE(support::is_inherited(descriptor));
  Socket second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: tests the moved-from state
  EXPECT_EQ(second.descriptor(), descriptor);
  second.close();
  EXPECT_FALSE(support::is_open_socket(descriptor));
}

TEST(Listener, TellsThePortThatTheSystemChose) {
  const auto socket = create_listener(any_port);
  ASSERT_TRUE(socket);
  EXPECT_NE(local_address(socket->descriptor()).port(), 0);
  EXPECT_EQ(peer_address(socket->descriptor()), Address());
}

TEST(Listener, SaysThatAnAddressIsInUse) {
  const auto first = create_listener(any_port);
  const auto second = create_listener(local_address(first->descriptor()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), Errc::AddressInUse);
  EXPECT_EQ(second.error().system_code(), EADDRINUSE);
}

TEST(Listener, SharesAPortWhenAllAskForIt) {
  const auto first = create_listener(any_port, {.reuse_port = true});
  const Address address = local_address(first->descriptor());
  EXPECT_TRUE(create_listener(address, {.reuse_port = true}));
  EXPECT_FALSE(create_listener(address));
}

TEST(Listener, SaysWhatIsWrongWithAnAddress) {
  EXPECT_EQ(create_listener(Address()).error().code(), Errc::InvalidAddress);
  // RFC 5737: a documentation address, which no machine has.
  EXPECT_EQ(create_listener(*Address::parse("192.0.2.1:0")).error().code(),
            Errc::AddressUnavailable);
}

TEST(Listener, SaysThatTheFolderOfAUnixPathIsMissing) {
  EXPECT_EQ(create_listener(*Address::unix_path("/nowhere/at/all")).error().code(), Errc::NotFound);
}

TEST(Listener, WhatItAcceptsNoticesThatAPeerHasVanished) {
  const auto listener = create_listener(*Address::parse("127.0.0.1:0"));
  const auto peer = create_socket(Address::Family::Ipv4);
  const Address address = local_address(listener->descriptor());
  static_cast<void>(bsd::connect(peer->descriptor(), address.data(), address.size_bytes()));
  ASSERT_TRUE(listener->wait_readable(10s));
  const Socket accepted(bsd::accept_one(listener->descriptor()));
  int value = 0;
  socklen_t size_bytes = sizeof value;
  bsd::getsockopt(accepted.descriptor(), SOL_SOCKET, SO_KEEPALIVE, &value, &size_bytes);
  EXPECT_NE(value, 0);
}

TEST(Socket, TurnsNagleOffOnTcpAndIgnoresTheRest) {
  const auto tcp = create_socket(Address::Family::Ipv4);
  set_no_delay(tcp->descriptor());
  int value = 0;
  socklen_t size_bytes = sizeof value;
  bsd::getsockopt(tcp->descriptor(), IPPROTO_TCP, TCP_NODELAY, &value, &size_bytes);
  EXPECT_NE(value, 0);
  set_no_delay(create_socket(Address::Family::Ipv4, SOCK_DGRAM)->descriptor());
}

}  // namespace
}  // namespace skua::net
