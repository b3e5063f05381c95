// SPDX-License-Identifier: MIT
#include "net/interfaces.hpp"

#include <gtest/gtest.h>

namespace skua::net {
namespace {

TEST(Interfaces, AreAddressesThatOthersCanReach) {
  for (const Address& address : interface_addresses()) {
    EXPECT_TRUE(address.is_ip());
    EXPECT_FALSE(address.is_loopback());
    EXPECT_EQ(address.port(), 0);
  }
}

TEST(HostName, HasNoEndOfLine) {
  EXPECT_EQ(host_name().find_first_of(std::string_view("\0\n", 2)), std::string::npos);
}

}  // namespace
}  // namespace skua::net
