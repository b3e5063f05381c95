// SPDX-License-Identifier: MIT
#include "net/local_end.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "net/socket.hpp"

namespace skua::net {
namespace {

const Address four = *Address::parse("127.0.0.1", 1);
const Address six = *Address::parse("2001:db8::1", 1);

std::string loopback_name() {
  const auto all = network_interfaces().value();
  const auto found = std::ranges::find(all, true, &NetworkInterface::is_loopback);
  return found == all.end() ? "" : found->name;
}

TEST(LocalEnd, IsAnAddressOfThisMachine) {
  const auto end = LocalEnd::find("127.0.0.1");
  ASSERT_TRUE(end) << end.error().text;
  const auto socket = create_socket(Address::Family::Ipv4);
  ASSERT_TRUE(socket);
  ASSERT_TRUE(end->bind(*socket, four));
  EXPECT_EQ(local_address(socket->descriptor()).with_port(0), four.with_port(0));
}

TEST(LocalEnd, HasNoAddressOfAnotherFamily) {
  const auto end = LocalEnd::find("127.0.0.1");
  ASSERT_TRUE(end);
  const auto socket = create_socket(Address::Family::Ipv6);
  if (!socket) GTEST_SKIP() << "no IPv6";
  const auto bound = end->bind(*socket, six);
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().code(), Errc::AddressUnavailable);
}

TEST(LocalEnd, IsAnInterface) {
  const std::string name = loopback_name();
  if (name.empty()) GTEST_SKIP() << "no loopback interface";
  const auto end = LocalEnd::find(name);
  ASSERT_TRUE(end) << end.error().text;
  const auto listener = create_listener(*Address::parse("127.0.0.1:0"));
  ASSERT_TRUE(listener);
  StreamSocket socket(create_socket(Address::Family::Ipv4).value());
  const Address peer = local_address(listener->descriptor());
  ASSERT_TRUE(end->bind(socket, peer));
  EXPECT_TRUE(socket.connect(peer, 5s));
}

TEST(LocalEnd, UnixSocketsAreNotBound) {
  const auto end = LocalEnd::find("127.0.0.1");
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->bind(Socket(), *Address::unix_path("/run/x")));
}

TEST(LocalEnd, AnythingElseIsNamedInTheProblem) {
  for (const char* const name : {"nosuchif0", "192.0.2.1", "", "eth0/../..", "a b"}) {
    const auto end = LocalEnd::find(name);
    ASSERT_FALSE(end) << name;
    EXPECT_EQ(end.error().code(), Errc::AddressUnavailable) << name;
    EXPECT_EQ(end.error().text, "could not connect from '" + std::string(name) +
                                    "': this machine has no such network interface or address");
  }
}

}  // namespace
}  // namespace skua::net
