// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstring>

#include "net/address.hpp"

namespace skua::net {
namespace {

TEST(Address, ReadsAndWritesTheSameText) {
  for (const char* const text :
       {"1.2.3.4:80", "0.0.0.0:0", "[::1]:80", "[::]:65535", "[2001:db8::8:800:200c:417a]:8080",
        "[::ffff:1.2.3.4]:80", "unix:/run/x", "unix:relative"}) {
    const auto address = Address::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), text);
    EXPECT_EQ(*address, *Address::parse(text));
  }
}

TEST(Address, RefusesWhatIsNotAnAddress) {
  for (const char* const text : {"",
                                 ":",
                                 ":80",
                                 "1.2.3.4",
                                 "1.2.3:80",
                                 "1.2.3.4:",
                                 "1.2.3.4:65536",
                                 "1.2.3.4:-1",
                                 "1.2.3.4:+80",
                                 "1.2.3.4:80 ",
                                 " 1.2.3.4:80",
                                 "01.2.3.4:80",
                                 "localhost:80",
                                 "::1:80",
                                 "[::1]",
                                 "[::1]80",
                                 "[::1:80",
                                 "[1.2.3.4]:80",
                                 "[::1%]:80",
                                 "[::1%no-such-zone-0]:80",
                                 "[]:80",
                                 "unix:",
                                 "[:::1]:80"}) {
    EXPECT_EQ(Address::parse(text).has_value(), false) << text;
  }
  EXPECT_FALSE(Address::parse(std::string_view("1.2.3.4\0:80", 11)));
  EXPECT_FALSE(Address::unix_path(std::string(108, 'x')));
  EXPECT_TRUE(Address::unix_path(std::string(107, 'x')));
  EXPECT_FALSE(Address::unix_path(std::string_view("a\0b", 3)));
}

TEST(Address, TakesHostsWithAndWithoutBrackets) {
  EXPECT_EQ(Address::parse("::1", 80)->to_string(), "[::1]:80");
  EXPECT_EQ(Address::parse("[::1]", 80)->to_string(), "[::1]:80");
  EXPECT_EQ(Address::parse("127.0.0.1", 80)->to_string(), "127.0.0.1:80");
  EXPECT_EQ(Address::parse("::1", 80)->with_port(81).port(), 81);
}

TEST(Address, KeepsTheZone) {
  const auto by_index = Address::parse("fe80::1%4000000", 80);
  ASSERT_TRUE(by_index);
  EXPECT_EQ(by_index->to_string(), "[fe80::1%4000000]:80");
  EXPECT_NE(*by_index, *Address::parse("fe80::1", 80));
}

TEST(Address, KnowsLoopback) {
  EXPECT_TRUE(Address::parse("127.1.2.3:80")->is_loopback());
  EXPECT_TRUE(Address::parse("[::1]:80")->is_loopback());
  EXPECT_FALSE(Address::parse("0.0.0.0:80")->is_loopback());
  EXPECT_FALSE(Address::parse("128.0.0.1:80")->is_loopback());
  EXPECT_FALSE(Address().is_loopback());
}

TEST(Address, GoesThroughASockaddrAndBack) {
  for (const char* const text : {"1.2.3.4:80", "[2001:db8::1]:443", "unix:/run/x"}) {
    const Address address = *Address::parse(text);
    EXPECT_EQ(Address::from_sockaddr(address.data(), address.size_bytes()), address);
  }
}

TEST(Address, DoesNotTrustTheSizeItIsTold) {
  const Address address = *Address::parse("[::1]:80");
  EXPECT_EQ(Address::from_sockaddr(address.data(), 0), Address());
  EXPECT_EQ(Address::from_sockaddr(address.data(), 8), Address());
  sockaddr_un unnamed{};
  unnamed.sun_family = AF_UNIX;
  const Address none =
      Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&unnamed), sizeof(sa_family_t));
  EXPECT_EQ(none.family(), Address::Family::Unix);
  EXPECT_EQ(none.path(), "");
  EXPECT_EQ(none.to_string(), "unix:");
}

TEST(Address, CutsTextThatDoesNotFit) {
  std::array<char, 6> small{};
  EXPECT_EQ(Address::parse("1.2.3.4:80")->format(small), "1.2.3.");
  EXPECT_EQ(Address().to_string(), "");
  std::array<char, Address::max_text_bytes> buffer{};
  EXPECT_EQ(Address::parse("[::1]:80")->format_host(buffer), "::1");
}

}  // namespace
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
