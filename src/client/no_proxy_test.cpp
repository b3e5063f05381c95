// SPDX-License-Identifier: MIT
#include "client/no_proxy.hpp"

#include <gtest/gtest.h>

namespace skua::client {
namespace {

bool lists(std::string_view list, std::string_view host, std::uint16_t port = 443) {
  return NoProxy::parse(list).contains(host, port);
}

TEST(NoProxy, NothingIsListedByNothing) {
  EXPECT_FALSE(NoProxy().contains("example.com", 80));
  for (const char* const list : {"", " ", ",", ", ,\t,", ".", "*.", "..", ":80", "/", "/8"}) {
    EXPECT_FALSE(lists(list, "example.com")) << list;
    EXPECT_FALSE(lists(list, "127.0.0.1")) << list;
    EXPECT_FALSE(lists(list, "")) << list;
  }
}

TEST(NoProxy, ANameStandsForItselfAndAllBelow) {
  for (const char* const list :
       {"example.com", ".example.com", "EXAMPLE.com.", " a, example.com"}) {
    EXPECT_TRUE(lists(list, "example.com")) << list;
    EXPECT_TRUE(lists(list, "Example.COM.")) << list;
    EXPECT_TRUE(lists(list, "a.b.example.com")) << list;
    EXPECT_FALSE(lists(list, "notexample.com")) << list;
    EXPECT_FALSE(lists(list, "example.com.evil.test")) << list;
    EXPECT_FALSE(lists(list, "com")) << list;
    EXPECT_FALSE(lists(list, ".example.com.")) << list;
  }
}

TEST(NoProxy, AStarInFrontStandsForThoseBelowOnly) {
  EXPECT_TRUE(lists("*.example.com", "a.example.com"));
  EXPECT_FALSE(lists("*.example.com", "example.com"));
  EXPECT_FALSE(lists("*ample.com", "example.com"));
}

TEST(NoProxy, AStarStandsForAll) {
  for (const char* const host : {"example.com", "127.0.0.1", "::1", "[::1]", ""}) {
    EXPECT_TRUE(lists("*", host)) << host;
    EXPECT_TRUE(lists("a.example, *", host)) << host;
  }
  EXPECT_TRUE(lists("*:80", "example.com", 80));
  EXPECT_FALSE(lists("*:80", "example.com", 443));
}

TEST(NoProxy, EntriesAreApartByCommasAndSpaces) {
  for (const char* const list : {"a,b,c", "a b c", "a, b ,\tc", ",,a,, b,c,\n"}) {
    for (const char* const host : {"a", "b", "c"}) EXPECT_TRUE(lists(list, host)) << list;
    EXPECT_FALSE(lists(list, "d")) << list;
  }
}

TEST(NoProxy, APortNarrowsAnEntry) {
  for (const auto& [list, host] :
       {std::pair("example.com:8080", "www.example.com"), std::pair("10.0.0.1:8080", "10.0.0.1"),
        std::pair("[::1]:8080", "::1")}) {
    EXPECT_TRUE(lists(list, host, 8080)) << list;
    EXPECT_FALSE(lists(list, host, 80)) << list;
  }
  for (const char* const list : {"example.com:", "example.com:0", "example.com:x",
                                 "example.com:65536", "example.com:80:80"}) {
    EXPECT_FALSE(lists(list, "example.com", 80)) << list;
  }
}

TEST(NoProxy, AddressesAreComparedAsSuch) {
  for (const char* const list : {"::1", "[::1]", "0:0:0:0:0:0:0:1"}) {
    EXPECT_TRUE(lists(list, "::1")) << list;
    EXPECT_TRUE(lists(list, "[::1]")) << list;
    EXPECT_FALSE(lists(list, "::2")) << list;
  }
  EXPECT_TRUE(lists("10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(lists("10.0.0.1", "::ffff:10.0.0.1"));
  EXPECT_FALSE(lists("10.0.0.1", "10.0.0.10"));
  EXPECT_TRUE(lists("fe80::1", "fe80::1%eth0"));
  // An address has no subdomains, and is not a subdomain of a name.
  EXPECT_FALSE(lists("10.0.0.1", "www.10.0.0.1"));
  EXPECT_FALSE(lists("0.0.1", "10.0.0.1"));
  EXPECT_FALSE(lists("1", "10.0.0.1"));
}

TEST(NoProxy, NetworksHaveTheirAddresses) {
  EXPECT_TRUE(lists("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(lists("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(lists("192.168.4.0/22", "192.168.7.255"));
  EXPECT_FALSE(lists("192.168.4.0/22", "192.168.8.0"));
  EXPECT_TRUE(lists("10.1.2.3/32", "10.1.2.3"));
  EXPECT_FALSE(lists("10.1.2.3/32", "10.1.2.2"));
  EXPECT_TRUE(lists("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(lists("0.0.0.0/0", "::1"));
  EXPECT_TRUE(lists("fd00::/8", "fdff::1"));
  EXPECT_TRUE(lists("[fd00::]/8", "[fd12::1]"));
  EXPECT_FALSE(lists("fd00::/8", "fc00::1"));
  EXPECT_TRUE(lists("::/0", "2001:db8::1"));
  EXPECT_FALSE(lists("::/0", "8.8.8.8"));
  EXPECT_FALSE(lists("10.0.0.0/8", "example.com"));
  for (const char* const list : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/8x",
                                 "10.0.0.0/-1", "::/129", "example.com/8", "10/8"}) {
    EXPECT_FALSE(lists(list, "10.0.0.0")) << list;
    EXPECT_FALSE(lists(list, "::")) << list;
  }
}

}  // namespace
}  // namespace skua::client
