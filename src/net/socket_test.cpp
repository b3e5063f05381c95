// SPDX-License-Identifier: MIT
#include "net/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>

#include <gtest/gtest.h>
#include <poll.h>

namespace skua::net {
namespace {

const Address any_port = *Address::parse("127.0.0.1:0");

TEST(Socket, ClosesItsDescriptorUnlessReleased) {
  Socket first = *create_socket(Address::Family::Unix);
  const int descriptor = first.descriptor();
  EXPECT_NE(::fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
  Socket second = std::move(first);
  EXPECT_FALSE(first);  // NOLINT: tests the moved-from state
  EXPECT_EQ(second.descriptor(), descriptor);
  second.close();
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
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
  EXPECT_EQ(create_listener(*Address::unix_path("/nowhere/at/all")).error().code(), Errc::NotFound);
}

TEST(Listener, WhatItAcceptsNoticesThatAPeerHasVanished) {
  const auto listener = create_listener(*Address::parse("127.0.0.1:0"));
  const auto peer = create_socket(Address::Family::Ipv4);
  const Address address = local_address(listener->descriptor());
  static_cast<void>(::connect(peer->descriptor(), address.data(), address.size_bytes()));
  pollfd waiting{.fd = listener->descriptor(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&waiting, 1, 10'000), 1);
  const Socket accepted(::accept(listener->descriptor(), nullptr, nullptr));
  int value = 0;
  socklen_t size_bytes = sizeof value;
  ::getsockopt(accepted.descriptor(), SOL_SOCKET, SO_KEEPALIVE, &value, &size_bytes);
  EXPECT_NE(value, 0);
}

TEST(Socket, TurnsNagleOffOnTcpAndIgnoresTheRest) {
  const auto tcp = create_socket(Address::Family::Ipv4);
  set_no_delay(tcp->descriptor());
  int value = 0;
  socklen_t size_bytes = sizeof value;
  ::getsockopt(tcp->descriptor(), IPPROTO_TCP, TCP_NODELAY, &value, &size_bytes);
  EXPECT_NE(value, 0);
  set_no_delay(create_socket(Address::Family::Unix)->descriptor());
}

}  // namespace
}  // namespace skua::net
