// SPDX-License-Identifier: MIT
#include "base/ip_text.hpp"

#include <gtest/gtest.h>

namespace skua {
namespace {

std::string canonical(std::string_view text) {
  const auto groups = parse_ipv6(text);
  if (!groups) return "refused";
  std::string out;
  append_ipv6(out, *groups);
  return out;
}

TEST(IpText, ReadsADottedQuad) {
  EXPECT_EQ(parse_ipv4("127.0.0.1"), (std::array<std::uint8_t, 4>{127, 0, 0, 1}));
  EXPECT_EQ(parse_ipv4("255.255.255.255"), (std::array<std::uint8_t, 4>{255, 255, 255, 255}));
}

TEST(IpText, RefusesEveryOtherFormOfIpv4) {
  for (const char* const text :
       {"", "1", "1.2.3", "1.2.3.4.", "1.2.3.4.5", ".1.2.3.4", "1..2.3", "256.1.1.1", "1.1.1.1000",
        "01.2.3.4", "00.0.0.0", "0x7f.0.0.1", "127.1", "2130706433", "1.2.3.4 ", "-1.2.3.4",
        "1.2.3.+4", "1.2.3.99999999999999999999"}) {
    EXPECT_FALSE(parse_ipv4(text)) << text;
  }
}

TEST(IpText, WritesIpv6AsRfc5952Says) {
  EXPECT_EQ(canonical("::"), "::");
  EXPECT_EQ(canonical("::1"), "::1");
  EXPECT_EQ(canonical("1::"), "1::");
  EXPECT_EQ(canonical("2001:0DB8:0:0:0:0:2:1"), "2001:db8::2:1");
  EXPECT_EQ(canonical("2001:db8:0:1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(canonical("2001:db8::1:1:1:1:1"), "2001:db8:0:1:1:1:1:1");
  EXPECT_EQ(canonical("2001:0:0:1:0:0:0:1"), "2001:0:0:1::1");
  EXPECT_EQ(canonical("2001:db8:0:0:1:0:0:1"), "2001:db8::1:0:0:1");
  EXPECT_EQ(canonical("1:2:3:4:5:6:0:0"), "1:2:3:4:5:6::");
  EXPECT_EQ(canonical("::ffff:c000:0201"), "::ffff:192.0.2.1");
  EXPECT_EQ(canonical("::FFFF:192.0.2.1"), "::ffff:192.0.2.1");
  EXPECT_EQ(canonical("::192.0.2.1"), "::c000:201");
  EXPECT_EQ(canonical("1:2:3:4:5:6:1.2.3.4"), "1:2:3:4:5:6:102:304");
  EXPECT_EQ(canonical("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(IpText, RefusesWhatIsNoIpv6) {
  for (const char* const text : {"",
                                 ":",
                                 ":::",
                                 "1",
                                 "1:2:3:4:5:6:7",
                                 "1:2:3:4:5:6:7:8:9",
                                 "1:2:3:4:5:6:7:8::",
                                 "::1:2:3:4:5:6:7:8",
                                 "1::2::3",
                                 "1:",
                                 ":1",
                                 "1:2:3:4:5:6:7:",
                                 "12345::",
                                 "g::",
                                 "::1.2.3",
                                 "::1.2.3.4:5",
                                 "1:2:3:4:5:6:7:1.2.3.4",
                                 "::01.2.3.4",
                                 "1.2.3.4",
                                 "1.2.3.4::",
                                 "::1 ",
                                 "[::1]",
                                 "fe80::1%eth0",
                                 "::ffff:1.2.3.4.5"}) {
    EXPECT_EQ(canonical(text), "refused") << text;
  }
}

}  // namespace
}  // namespace skua
