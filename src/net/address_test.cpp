// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <set>
#include <unordered_set>
#include "loop/sockets.hpp"

#include "skua/address.hpp"

namespace skua {
namespace {

TEST(Address, ReadsAndWritesTheSameText) {
  for (const char* const text :
       {"1.2.3.4:80", "0.0.0.0:0", "[::1]:80", "[::]:65535", "[2001:db8::8:800:200c:417a]:8080",
        "[::ffff:1.2.3.4]:80", "unix:/run/x", "unix:relative", "unix:./@path"}) {
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
                                 "unix:@",
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

TEST(Address, ShowsItsBytesInNetworkOrder) {
  EXPECT_EQ(text(Address::parse("1.2.3.4:80")->ip_bytes()), "\x01\x02\x03\x04");
  EXPECT_EQ(text(Address::parse("[102:304:506:708:90a:b0c:d0e:f10]:80")->ip_bytes()),
            "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10");
  EXPECT_TRUE(Address::parse("unix:/run/x")->ip_bytes().empty());
  EXPECT_TRUE(Address().ip_bytes().empty());
}

TEST(Address, IsMadeOfItsBytes) {
  for (const char* const text : {"1.2.3.4:80", "[102:304:506:708:90a:b0c:d0e:f10]:65535"}) {
    const Address address = Address::parse(text).value();
    EXPECT_EQ(Address::from_ip_bytes(address.ip_bytes(), address.port()), address) << text;
  }
  for (const std::string_view wrong :
       {"", "abc", "abcde", "0123456789abcde", "0123456789abcdefg"}) {
    EXPECT_EQ(Address::from_ip_bytes(bytes(wrong), 80), Address()) << wrong;
  }
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

TEST(Address, HasWildcardAndLoopbackOfEachFamily) {
  using enum Address::Family;
  EXPECT_EQ(Address::any(Ipv4, 80).to_string(), "0.0.0.0:80");
  EXPECT_EQ(Address::any(Ipv6, 80).to_string(), "[::]:80");
  EXPECT_EQ(Address::loopback(Ipv4, 80).to_string(), "127.0.0.1:80");
  EXPECT_EQ(Address::loopback(Ipv6, 80).to_string(), "[::1]:80");
  EXPECT_EQ(Address::any(Unix, 80), Address());
  EXPECT_TRUE(Address::any(Ipv6, 80).is_any());
  EXPECT_FALSE(Address::loopback(Ipv4, 80).is_any());
  EXPECT_FALSE(Address().is_any());
}

TEST(Address, KnowsWhatIpAddressesAreFor) {
  EXPECT_TRUE(Address::parse("224.0.0.1:1")->is_multicast());
  EXPECT_TRUE(Address::parse("239.255.255.255:1")->is_multicast());
  EXPECT_FALSE(Address::parse("223.255.255.255:1")->is_multicast());
  EXPECT_FALSE(Address::parse("240.0.0.0:1")->is_multicast());
  EXPECT_TRUE(Address::parse("[ff02::1]:1")->is_multicast());
  EXPECT_FALSE(Address::parse("[fe80::1]:1")->is_multicast());
  EXPECT_TRUE(Address::parse("[fe80::1]:1")->is_link_local());
  EXPECT_FALSE(Address::parse("169.254.0.1:1")->is_link_local());  // needs no scope id
}

TEST(Address, FindsTheIpv4AddressInAMappedOne) {
  EXPECT_EQ(Address::parse("[::ffff:1.2.3.4]:80")->unmapped().to_string(), "1.2.3.4:80");
  for (const char* const text : {"[::1.2.3.4]:80", "[2001:db8::1]:80", "1.2.3.4:80", "unix:/x"}) {
    EXPECT_EQ(Address::parse(text)->unmapped(), *Address::parse(text));
  }
}

TEST(Address, TellsPathsFromAbstractUnixNames) {
  const auto name = Address::unix_abstract("gull");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->abstract_name(), "gull");
  EXPECT_EQ(name->path(), "");
  EXPECT_EQ(name->to_string(), "unix:@gull");
  EXPECT_EQ(*Address::parse("unix:@gull"), *name);
  EXPECT_NE(*name, *Address::unix_path("gull"));
  EXPECT_EQ(Address::unix_path("gull")->abstract_name(), "");
  EXPECT_EQ(Address::from_sockaddr(name->data(), name->size_bytes()), *name);
  EXPECT_TRUE(Address::unix_abstract(std::string(107, 'x')));
  EXPECT_FALSE(Address::unix_abstract(std::string(108, 'x')));
  EXPECT_FALSE(Address::unix_abstract(std::string_view("a\0b", 3)));
}

TEST(Address, ShowsTheBytesOfAnAbstractUnixNameThatAnotherProgramChose) {
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  std::memcpy(local.sun_path, "\0a\0b", 4);
  const Address address = Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&local),
                                                 offsetof(sockaddr_un, sun_path) + 4);
  EXPECT_EQ(address.to_string(), "unix:@a@b");
}

TEST(Address, IsOrderedAndHashed) {
  std::set<Address> ordered;
  std::unordered_set<Address> hashed;
  const std::array texts = {"1.2.3.4:80",    "1.2.3.4:81",    "1.2.3.5:79", "[::1]:1",
                            "[fe80::1%1]:1", "[fe80::1%2]:1", "unix:/a",    "unix:/b"};
  for (const char* const text : texts) {
    for (int times = 0; times < 2; ++times) {
      ordered.insert(*Address::parse(text));
      hashed.insert(*Address::parse(text));
    }
  }
  EXPECT_EQ(ordered.size(), texts.size());
  EXPECT_EQ(hashed.size(), texts.size());
  EXPECT_LT(*Address::parse("1.2.3.4:81"), *Address::parse("1.2.3.5:79"));
  EXPECT_LT(*Address::parse("9.9.9.9:1"), *Address::parse("[::1]:1"));
}

TEST(Address, IsEqualWhateverDoesNotCount) {
  sockaddr_in padded{};
  padded.sin_family = AF_INET;
  padded.sin_port = htons(80);
  padded.sin_zero[0] = 1;
  const Address address =
      Address::from_sockaddr(reinterpret_cast<const sockaddr*>(&padded), sizeof padded);
  EXPECT_EQ(address, *Address::parse("0.0.0.0:80"));
  EXPECT_EQ(std::hash<Address>()(address), std::hash<Address>()(*Address::parse("0.0.0.0:80")));
  // A path is the same with and without the NUL that systems add.
  const Address path = *Address::unix_path("/x");
  EXPECT_EQ(Address::from_sockaddr(path.data(), path.size_bytes() - 1), path);
}

TEST(Resolve, TakesNumericAddressesAsTheyAre) {
  EXPECT_EQ(*resolve("127.0.0.1", 80), std::vector{*Address::parse("127.0.0.1:80")});
  EXPECT_EQ(*resolve("[::1]", 80), std::vector{*Address::parse("[::1]:80")});
}

TEST(Resolve, AddsThePortToEachAddressOfAName) {
  const auto found = resolve("localhost", 80);
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_TRUE(std::ranges::all_of(*found, [](const Address& address) {
    return address.is_loopback() && address.port() == 80;
  }));
}

TEST(Resolve, SaysWhichNameItCouldNotResolve) {
  const auto found = resolve("127.1", 80);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Errc::InvalidAddress);
  EXPECT_EQ(found.error().text, "could not resolve 127.1: the address is not valid");
}

TEST(Interfaces, ContainLoopback) {
  const auto interfaces = network_interfaces();
  ASSERT_TRUE(interfaces);
  const auto loopback = std::ranges::find(*interfaces, true, &NetworkInterface::is_loopback);
  ASSERT_NE(loopback, interfaces->end());
  EXPECT_NE(loopback->index, 0U);
  EXPECT_NE(loopback->name, "");
  std::set<std::string> names;
  for (const NetworkInterface& network : *interfaces) {
    EXPECT_TRUE(names.insert(network.name).second) << network.name;
    for (const Address& address : network.addresses) EXPECT_EQ(address.port(), 0);
  }
}

}  // namespace
}  // namespace skua
