// SPDX-License-Identifier: MIT
#include "skua/ip_filter.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace skua {
namespace {

Address ip(const char* text) { return Address::parse(text, 443).value(); }
Network network(std::string_view text) { return Network::parse(text).value(); }

std::vector<Network> networks(const std::vector<std::string_view>& texts) {
  std::vector<Network> out;
  for (const std::string_view text : texts) out.push_back(network(text));
  return out;
}

TEST(Network, ParsesBlocksAndSingleAddresses) {
  struct Row {
    const char* text;
    const char* canonical;
  };
  for (const Row& row : {
           Row{"10.0.0.0/8", "10.0.0.0/8"},
           Row{"192.0.2.1", "192.0.2.1/32"},
           Row{"0.0.0.0/0", "0.0.0.0/0"},
           Row{"2001:DB8::/32", "2001:db8::/32"},
           Row{"::1", "::1/128"},
           Row{"::/0", "::/0"},
           // Bits after the prefix are cleared, also inside an octet.
           Row{"10.1.2.3/8", "10.0.0.0/8"},
           Row{"192.0.2.255/25", "192.0.2.128/25"},
           Row{"255.255.255.255/1", "128.0.0.0/1"},
           Row{"2001:db8:ffff::1/33", "2001:db8:8000::/33"},
           Row{"192.0.2.1/0", "0.0.0.0/0"},
           // An IPv4-mapped block is the IPv4 block.
           Row{"::ffff:192.0.2.1", "192.0.2.1/32"},
           Row{"::ffff:10.0.0.0/104", "10.0.0.0/8"},
           Row{"::ffff:0:0/96", "0.0.0.0/0"},
           Row{"::ffff:0:0/95", "::fffe:0:0/95"},
       }) {
    const auto parsed = Network::parse(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(parsed->to_string(), row.canonical) << row.text;
    EXPECT_EQ(*parsed, network(row.canonical)) << row.text;
  }
}

TEST(Network, RefusesWhatIsNotABlock) {
  for (const std::string_view text : {"",
                                      "/",
                                      "/8",
                                      "10.0.0.0/",
                                      "10.0.0.0/33",
                                      "10.0.0.0/08",
                                      "10.0.0.0/+8",
                                      "10.0.0.0/-1",
                                      "10.0.0.0/ 8",
                                      "10.0.0.0/8 ",
                                      " 10.0.0.0/8",
                                      "10.0.0.0/8/8",
                                      "10.0.0.0/255.0.0.0",
                                      "10.0.0/8",
                                      "10/8",
                                      "010.0.0.0/8",
                                      "0x0a.0.0.0/8",
                                      "167772160/8",
                                      "10.0.0.0:80",
                                      "10.0.0.0/99999999999",
                                      "::/129",
                                      "[::1]",
                                      "[::]/0",
                                      "fe80::1%eth0",
                                      "fe80::%1/64",
                                      "::1.2.3/8",
                                      "localhost",
                                      "localhost/8",
                                      "unix:/run/x"}) {
    const auto parsed = Network::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), Errc::InvalidAddress);
  }
  EXPECT_FALSE(Network::parse(std::string_view("10.0.0.0\0/8", 11)));
}

TEST(Network, IsMadeOfAnAddress) {
  EXPECT_EQ(Network::of(ip("192.0.2.77"), 24)->to_string(), "192.0.2.0/24");
  EXPECT_EQ(Network::of(ip("2001:db8::1"), 64)->to_string(), "2001:db8::/64");
  EXPECT_EQ(Network::of(ip("::ffff:192.0.2.77"), 24)->to_string(), "192.0.2.0/24");
  EXPECT_EQ(Network::of(ip("::ffff:192.0.2.77"))->to_string(), "192.0.2.77/32");
  EXPECT_EQ(Network::of(ip("fe80::1%3"))->to_string(), "fe80::1/128");
  EXPECT_FALSE(Network::of(ip("192.0.2.77"), 33));
  EXPECT_FALSE(Network::of(ip("::ffff:192.0.2.77"), 120));
  EXPECT_FALSE(Network::of(ip("::1"), 129));
  EXPECT_FALSE(Network::of(Address()));
  EXPECT_FALSE(Network::of(Address::parse("unix:/run/x").value(), 0));
  EXPECT_EQ(network("10.0.0.0/8").family(), Address::Family::Ipv4);
  EXPECT_EQ(network("2001:db8::/32").family(), Address::Family::Ipv6);
  EXPECT_EQ(network("2001:db8::/32").prefix_length(), 32U);
}

TEST(Network, ContainsItsAddresses) {
  struct Row {
    const char* block;
    const char* address;
    bool is_inside;
  };
  for (const Row& row : {
           Row{"10.0.0.0/8", "10.0.0.0", true},
           Row{"10.0.0.0/8", "10.255.255.255", true},
           Row{"10.0.0.0/8", "11.0.0.0", false},
           Row{"10.0.0.0/8", "9.255.255.255", false},
           Row{"192.0.2.128/25", "192.0.2.128", true},
           Row{"192.0.2.128/25", "192.0.2.127", false},
           Row{"192.0.2.1", "192.0.2.1", true},
           Row{"192.0.2.1", "192.0.2.2", false},
           Row{"0.0.0.0/0", "255.255.255.255", true},
           Row{"0.0.0.0/0", "::1", false},
           Row{"2001:db8::/33", "2001:db8:7fff::1", true},
           Row{"2001:db8::/33", "2001:db8:8000::1", false},
           Row{"::/0", "2001:db8::1", true},
           Row{"::/0", "10.0.0.1", false},
           // A mapped address is an IPv4 address, in whatever form either is given.
           Row{"10.0.0.0/8", "::ffff:10.1.2.3", true},
           Row{"::ffff:10.0.0.0/104", "10.1.2.3", true},
           Row{"::ffff:10.0.0.0/104", "::ffff:10.1.2.3", true},
           Row{"::/0", "::ffff:10.0.0.1", false},
           Row{"fe80::/10", "fe80::1%7", true},
           Row{"fe80::1", "fe80::1%7", true},
       }) {
    EXPECT_EQ(network(row.block).contains(ip(row.address)), row.is_inside)
        << row.block << ' ' << row.address;
  }
  EXPECT_FALSE(network("0.0.0.0/0").contains(Address()));
  EXPECT_FALSE(network("0.0.0.0/0").contains(Address::parse("unix:/run/x").value()));
}

TEST(Network, ContainsSmallerBlocksAndItself) {
  EXPECT_TRUE(network("10.0.0.0/8").contains(network("10.0.0.0/8")));
  EXPECT_TRUE(network("10.0.0.0/8").contains(network("10.1.0.0/16")));
  EXPECT_FALSE(network("10.1.0.0/16").contains(network("10.0.0.0/8")));
  EXPECT_FALSE(network("10.0.0.0/8").contains(network("11.0.0.0/16")));
  EXPECT_FALSE(network("::/0").contains(network("10.0.0.0/8")));
}

TEST(Network, OrdersABlockBeforeThoseInside) {
  const std::vector<Network> sorted = networks(
      {"9.0.0.0/8", "10.0.0.0/7", "10.0.0.0/8", "10.0.0.0/16", "10.0.0.1", "10.1.0.0/16", "::/0"});
  EXPECT_TRUE(std::ranges::is_sorted(sorted));
  EXPECT_LT(network("10.0.0.0/8"), network("10.0.0.0/9"));
}

TEST(Networks, AreReadOneALine) {
  const auto list = parse_networks(
      "# offices\n"
      "10.0.0.0/8\n"
      "\n"
      "  2001:db8::/32\t# Berlin\r\n"
      "192.0.2.1");
  ASSERT_TRUE(list) << list.error().text;
  EXPECT_EQ(*list, networks({"10.0.0.0/8", "2001:db8::/32", "192.0.2.1"}));
  EXPECT_TRUE(parse_networks("").value().empty());
  EXPECT_TRUE(parse_networks("\n # nothing \n").value().empty());
}

TEST(Networks, NameTheLineThatIsWrong) {
  const auto list = parse_networks("10.0.0.0/8\n# x\n10.0.0.0/33 # too long\n");
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code(), Errc::InvalidAddress);
  EXPECT_EQ(list.error().text, "line 3: \"10.0.0.0/33\" is not a network such as 10.0.0.0/8");
  EXPECT_FALSE(parse_networks("10.0.0.0/8, 11.0.0.0/8"));
  EXPECT_LT(parse_networks(std::string(1'000'000, 'x')).error().text.size(), 200U);
}

TEST(IpFilter, DenyBeatsAllow) {
  struct Row {
    std::vector<std::string_view> allow;
    std::vector<std::string_view> deny;
    const char* peer;
    bool is_accepted;
  };
  for (const Row& row : {
           Row{{}, {}, "192.0.2.1", true},
           Row{{}, {"10.1.0.0/16"}, "10.2.0.0", true},
           Row{{}, {"10.1.0.0/16"}, "10.1.0.0", false},
           Row{{}, {"10.1.0.0/16"}, "::1", true},
           Row{{"10.0.0.0/8"}, {}, "10.1.2.3", true},
           Row{{"10.0.0.0/8"}, {}, "11.0.0.0", false},
           Row{{"10.0.0.0/8"}, {}, "::1", false},
           Row{{"10.0.0.0/8"}, {"10.1.0.0/16"}, "10.2.0.0", true},
           Row{{"10.0.0.0/8"}, {"10.1.0.0/16"}, "10.1.255.255", false},
           Row{{"10.1.2.3"}, {"10.1.0.0/16"}, "10.1.2.3", false},
           Row{{"10.1.2.3"}, {"10.1.2.3"}, "10.1.2.3", false},
           // Blocks inside others, in any order, do not hide the rest of the outer one.
           Row{{"10.9.0.0/16", "10.0.0.0/8", "10.1.2.3"}, {}, "10.200.0.1", true},
           Row{{}, {"10.1.2.3", "10.1.0.0/16", "10.1.2.0/24"}, "10.1.99.1", false},
           // No form of an address gets around a rule for another form.
           Row{{}, {"192.0.2.0/24"}, "::ffff:192.0.2.7", false},
           Row{{}, {"::ffff:192.0.2.0/120"}, "192.0.2.7", false},
           Row{{"::/0"}, {}, "::ffff:192.0.2.7", false},
           Row{{}, {"fe80::/10"}, "fe80::1%2", false},
           Row{{"::1", "127.0.0.0/8"}, {}, "::ffff:127.0.0.1", true},
       }) {
    const IpFilter filter({networks(row.allow), networks(row.deny)});
    EXPECT_EQ(filter.accepts(ip(row.peer)), row.is_accepted) << row.peer;
  }
}

TEST(IpFilter, LeavesUnixPeersToThePermissionsOfThePath) {
  const IpFilter filter({.deny = networks({"0.0.0.0/0", "::/0"})});
  EXPECT_TRUE(filter.accepts(Address::parse("unix:/run/x").value()));
  const auto name = Address::parse("unix:@x");  // Linux only
  EXPECT_TRUE(!name || filter.accepts(*name));
  EXPECT_FALSE(filter.accepts(Address()));
  EXPECT_FALSE(IpFilter().accepts(Address()));
}

TEST(IpFilter, ChangesWhileItIsUsed) {
  IpFilter filter;
  EXPECT_TRUE(filter.accepts(ip("10.0.0.1")));
  filter.change([](IpRules& rules) { rules.deny.push_back(network("10.0.0.0/8")); });
  EXPECT_FALSE(filter.accepts(ip("10.0.0.1")));
  filter.change([](IpRules& rules) { rules.deny.push_back(network("10.0.0.1")); });
  // A rule inside another one is kept, and holds once the outer one is gone.
  filter.change([](IpRules& rules) { std::erase(rules.deny, network("10.0.0.0/8")); });
  EXPECT_FALSE(filter.accepts(ip("10.0.0.1")));
  EXPECT_TRUE(filter.accepts(ip("10.0.0.2")));
  EXPECT_EQ(filter.rules().deny, networks({"10.0.0.1"}));
  filter.replace({.allow = networks({"10.0.0.1"})});
  EXPECT_TRUE(filter.accepts(ip("10.0.0.1")));
  EXPECT_TRUE(filter.rules().deny.empty());
}

TEST(IpFilter, KeepsItsRulesIfAnEditThrows) {
  IpFilter filter({.deny = networks({"10.0.0.0/8"})});
  EXPECT_THROW(filter.change([](IpRules& rules) {
    rules.deny.clear();
    throw std::runtime_error("no");
  }),
               std::runtime_error);
  EXPECT_FALSE(filter.accepts(ip("10.0.0.1")));
  EXPECT_EQ(filter.rules().deny, networks({"10.0.0.0/8"}));
}

TEST(IpFilter, AgreesWithASearchOfAllRules) {
  std::mt19937 random(1);
  // Few distinct prefixes, so that blocks nest.
  const auto any_network = [&] {
    const std::array<std::string, 2> texts{
        "10." + std::to_string(random() % 4) + "." + std::to_string(random() % 4) + "." +
            std::to_string(random() % 4) + "/" + std::to_string(random() % 33),
        "2001:" + std::to_string(random() % 4) + "::" + std::to_string(random() % 4) + "/" +
            std::to_string(random() % 129)};
    return network(texts[random() % 2]);
  };
  for (int round = 0; round < 300; ++round) {
    IpRules rules;
    for (auto i = random() % 8; i > 0; --i) rules.allow.push_back(any_network());
    for (auto i = random() % 8; i > 0; --i) rules.deny.push_back(any_network());
    const IpFilter filter(rules);
    for (int i = 0; i < 50; ++i) {
      const std::string text = any_network().to_string();
      const Address peer = ip(text.substr(0, text.find('/')).c_str());
      const auto has = [&](const Network& block) { return block.contains(peer); };
      const bool is_allowed = rules.allow.empty() || std::ranges::any_of(rules.allow, has);
      EXPECT_EQ(filter.accepts(peer), is_allowed && std::ranges::none_of(rules.deny, has)) << text;
    }
  }
}

TEST(IpFilter, HoldsManyRules) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += std::to_string(1 + i / 25'000) + "." + std::to_string(i / 250 % 100) + "." +
            std::to_string(i % 250) + ".128/25\n";
  }
  const IpFilter filter({.deny = parse_networks(text).value()});
  EXPECT_EQ(filter.rules().deny.size(), 100'000U);
  EXPECT_FALSE(filter.accepts(ip("3.7.200.129")));
  EXPECT_TRUE(filter.accepts(ip("3.7.200.127")));
  EXPECT_TRUE(filter.accepts(ip("0.0.0.0")));
  EXPECT_TRUE(filter.accepts(ip("255.0.0.0")));
  EXPECT_TRUE(filter.accepts(ip("3.7.251.129")));
}

TEST(IpFilter, IsReadByManyThreadsWhileItChanges) {
  IpFilter filter;
  const std::array<std::vector<Network>, 2> lists{networks({"10.0.0.0/8", "192.0.2.0/24"}),
                                                  networks({"10.0.0.0/8", "198.51.100.0/24"})};
  filter.replace({.deny = lists[0]});
  std::atomic<bool> is_over{false};
  std::atomic<std::size_t> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      // Denied by both lists: never accepted in between.
      while (!is_over.load()) wrong += filter.accepts(ip("10.1.2.3")) ? 1U : 0U;
    });
  }
  for (std::size_t i = 0; i < 500; ++i) filter.replace({.deny = lists[i % 2]});
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0U);
}

}  // namespace
}  // namespace skua
