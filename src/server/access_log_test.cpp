// SPDX-License-Identifier: MIT
#include "server/access_log.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace skua::server {
namespace {

constexpr std::chrono::sys_seconds now{std::chrono::seconds(1'700'000'000)};

TEST(AccessLog, WritesTheCombinedFormat) {
  const RequestRecord record{.peer = "192.0.2.1:4711",
                             .target = "/a?b=c",
                             .referer = "http://x/",
                             .user_agent = "curl/8.0",
                             .method = Method::Head,
                             .version = Version::Http10,
                             .status = Status::NotFound,
                             .body_bytes = 512};
  EXPECT_EQ(combined_line(record, now),
            "192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] \"HEAD /a?b=c HTTP/1.0\" 404 512 "
            "\"http://x/\" \"curl/8.0\"\n");
}

TEST(AccessLog, WritesDashesForWhatIsNotThere) {
  EXPECT_EQ(combined_line({.status = Status::BadRequest}, now),
            "- - - [14/Nov/2023:22:13:20 +0000] \"-\" 400 0 \"-\" \"-\"\n");
}

TEST(AccessLog, SaysWhichResponsesWereCut) {
  EXPECT_EQ(combined_line({.target = "/big", .body_bytes = 65'536, .is_cut = true}, now),
            "- - - [14/Nov/2023:22:13:20 +0000] \"GET /big HTTP/1.1\" 200 65536 \"-\" \"-\" cut\n");
}

TEST(AccessLog, WritesAddressesWithoutPorts) {
  EXPECT_TRUE(combined_line({.peer = "[2001:db8::1]:80"}, now).starts_with("2001:db8::1 - "));
  EXPECT_TRUE(combined_line({.peer = "[::1"}, now).starts_with("::1 - "));
  EXPECT_TRUE(combined_line({.peer = "unix"}, now).starts_with("unix - "));
}

TEST(AccessLog, NothingThatAPeerSendsForgesALineOrDrivesATerminal) {
  const RequestRecord record{.target = "/\x1B]0;x\x07\r\n\" 200 \\\x7F",
                             .referer = "a\nb",
                             .user_agent = "\xC2\x9B\"evil"};
  const std::string line = combined_line(record, now);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_NE(line.find(R"(/\x1B]0;x\x07\x0D\x0A\" 200 \\\x7F)"), std::string::npos);
  EXPECT_NE(line.find(R"("a\x0Ab" "\xC2\x9B\"evil")"), std::string::npos);
}

TEST(AccessLog, CutsWhatIsTooLong) {
  const std::string agent(100'000, 'x');
  EXPECT_LT(combined_line({.user_agent = agent}, now).size(), 2'300u);
}

}  // namespace
}  // namespace skua::server
