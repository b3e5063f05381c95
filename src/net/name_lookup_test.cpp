// SPDX-License-Identifier: MIT
#include "net/name_lookup.hpp"

#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace skua::net {
namespace {

TEST(NameLookup, KnowsTheMachineItself) {
  const auto found = look_up("localhost");
  if (!found) GTEST_SKIP() << "localhost does not resolve here: " << found.error().message();
  EXPECT_TRUE(std::ranges::all_of(*found, &Address::is_loopback));
  EXPECT_TRUE(std::ranges::all_of(*found, [](const Address& one) { return one.port() == 0; }));
}

TEST(NameLookup, AsksNobodyForWhatIsNoName) {
  for (const char* text : {"", ".", "a b", "a\n", "b\xc3\xbc.de", "a/b", "::1", "a:80", "[a]",
                           "127.1", "0x7f.1", "2130706433", "127.0.0.1"}) {
    const auto found = look_up(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code(), Errc::InvalidAddress) << text;
  }
  EXPECT_EQ(look_up(std::string("localhost\0.example", 18)).error().code(), Errc::InvalidAddress);
  EXPECT_EQ(look_up(std::string(254, 'a')).error().code(), Errc::InvalidAddress);
}

// RFC 2606 §2: the name does not exist, and without a name server it is not found either.
TEST(NameLookup, SaysWhyThereIsNothing) {
  const auto found = look_up("nowhere.invalid");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Errc::NameNotResolved);
  EXPECT_FALSE(found.error().context().empty());
}

TEST(NameLookup, AsksForOneFamily) {
  const auto found = look_up_in(Address::Family::Ipv4, "localhost");
  if (!found) GTEST_SKIP() << "localhost does not resolve here: " << found.error().message();
  EXPECT_TRUE(std::ranges::all_of(
      *found, [](const Address& one) { return one.family() == Address::Family::Ipv4; }));
}

TEST(NameLookup, FindsNamesInAFileOfHosts) {
  const support::TemporaryDirectory folder;
  const std::string path = (folder / "hosts").string();
  std::ofstream(path)
      << "# hosts\n127.0.0.1\tlocalhost\n  10.0.0.1  a.example  b  # c\n10.0.0.2 last";
  for (const char* name : {"localhost", "a.example", "A.Example", "b", "last"}) {
    EXPECT_TRUE(hosts_file_contains(path.c_str(), name)) << name;
  }
  for (const char* name : {"", "c", "#", "10.0.0.1", "example", "127.0.0.1"}) {
    EXPECT_FALSE(hosts_file_contains(path.c_str(), name)) << name;
  }
  EXPECT_FALSE(hosts_file_contains((path + "x").c_str(), "a"));
}

}  // namespace
}  // namespace skua::net
