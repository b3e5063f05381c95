// SPDX-License-Identifier: MIT
#include "operations/log_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>

namespace skua::operations {
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

TEST(AccessLog, NamesAMethodThatIsNotKnown) {
  const RequestRecord record{.target = "/a", .method = Method::Other, .method_name = "REPORT"};
  EXPECT_NE(combined_line(record, now).find("\"REPORT /a HTTP/1.1\""), std::string::npos);
  EXPECT_NE(json_line(record, now).find("\"method\":\"REPORT\""), std::string::npos);
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

TEST(AccessLog, WritesTheClientOfAProxy) {
  const RequestRecord record{.client = "2001:db8::7", .peer = "10.0.0.1:4711"};
  EXPECT_TRUE(combined_line(record, now).starts_with("2001:db8::7 - "));
  EXPECT_EQ(LogPattern::parse("$address $peer")->line(record, now), "2001:db8::7 10.0.0.1:4711\n");
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

TEST(AccessLog, NamesTheUserInOneWord) {
  EXPECT_TRUE(combined_line({.peer = "unix", .user = "ada"}, now).starts_with("unix - ada ["));
  EXPECT_TRUE(combined_line({.peer = "unix", .user = "a b] \""}, now)
                  .starts_with(R"(unix - a\x20b]\x20\" [14)"));
}

using Json = nlohmann::json;

TEST(JsonLog, HasAnObjectForEachLine) {
  const RequestRecord record{.peer = "[2001:db8::1]:4711",
                             .target = "/a?b=c",
                             .referer = "http://x/",
                             .user_agent = "curl/8.0",
                             .version = Version::Http2,
                             .status = Status::NotFound,
                             .body_bytes = 512,
                             .is_cut = true,
                             .duration = 1'234'567us,
                             .request_id = "7",
                             .user = "ada"};
  EXPECT_EQ(json_line(record, now + 7ms),
            "{\"time\":\"2023-11-14T22:13:20.007Z\",\"address\":\"2001:db8::1\",\"user\":\"ada\","
            "\"method\":\"GET\",\"target\":\"/a?b=c\",\"protocol\":\"HTTP/2.0\",\"status\":404,"
            "\"bytes\":512,\"seconds\":1.234567,\"referer\":\"http://x/\","
            "\"user_agent\":\"curl/8.0\",\"request_id\":\"7\",\"cut\":true}\n");
}

TEST(JsonLog, LeavesOutWhatIsNotThere) {
  const RequestRecord record{.status = Status::BadRequest, .error = Errc::MalformedTarget};
  EXPECT_EQ(json_line(record, now),
            "{\"time\":\"2023-11-14T22:13:20.000Z\",\"status\":400,\"bytes\":0,"
            "\"seconds\":0.000000,\"error\":\"the request target is malformed\"}\n");
}

TEST(JsonLog, NamesThePeerIfItIsNotTheClient) {
  const auto begin = [](std::string_view client, std::string_view peer) {
    const std::string line = json_line({.client = client, .peer = peer}, now);
    const std::size_t at = line.find("\"address\"");
    return line.substr(at, line.find(",\"status\"") - at);
  };
  EXPECT_EQ(begin("192.0.2.1", "10.0.0.1:4711"),
            "\"address\":\"192.0.2.1\",\"peer\":\"10.0.0.1:4711\"");
  EXPECT_EQ(begin("192.0.2.1", "192.0.2.1:4711"), "\"address\":\"192.0.2.1\"");
  EXPECT_EQ(begin("2001:db8::1", "[2001:db8::1]:4711"), "\"address\":\"2001:db8::1\"");
  EXPECT_EQ(begin("unix", "unix:/run/a"), "\"address\":\"unix\"");
}

TEST(JsonLog, EscapesAllButPrintableAscii) {
  const auto agent = [](std::string_view text) {
    const std::string line = json_line({.user_agent = text}, now);
    const std::size_t begin = line.find("\"user_agent\":") + 13;
    return line.substr(begin, line.rfind('"') + 1 - begin);
  };
  EXPECT_EQ(agent("a\"\\\n\x1B\x7F"), R"("a\"\\\u000a\u001b\u007f")");
  EXPECT_EQ(agent("\xC2\x9B\xC3\xA4\xE2\x80\xAE\xF0\x9F\x98\x80"),
            R"("\u009b\u00e4\u202e\ud83d\ude00")");
  for (const std::string_view invalid :
       {"\x80", "\xC3", "\xFF", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    std::string expected = "\"";
    for (std::size_t i = 0; i < invalid.size(); ++i) expected += "\\ufffd";
    EXPECT_EQ(agent(invalid), expected + "\"");
  }
}

TEST(LogPattern, ReplacesWords) {
  const auto line = [](std::string_view text, const RequestRecord& record) {
    auto pattern = LogPattern::parse(text);
    return pattern ? pattern->line(record, now) : pattern.error().text;
  };
  const RequestRecord record{.peer = "192.0.2.1:4711",
                             .target = "/a b\"",
                             .status = Status::Created,
                             .body_bytes = 7,
                             .duration = 1500us,
                             .user = "ada"};
  EXPECT_EQ(line("$time\t$address $peer", record),
            "2023-11-14T22:13:20.000Z\t192.0.2.1 192.0.2.1:4711\n");
  EXPECT_EQ(line("<$method $target $protocol>$status,$bytes,$seconds", record),
            "<GET /a b\\\" HTTP/1.1>201,7,0.001500\n");
  EXPECT_EQ(line("$user $user_agent $referer $$5", record), "ada - - $5\n");
  EXPECT_EQ(line("$method $target $protocol $address $user", {}), "- - - - -\n");
}

TEST(LogPattern, RefusesWhatMakesNoLine) {
  for (const std::string_view text : {"", "apache", "$$", "$", "$status$", "$nothing", "$Status",
                                      "$status\n", "$status \x1B[2J"}) {
    const auto pattern = LogPattern::parse(text);
    ASSERT_FALSE(pattern) << text;
    EXPECT_NE(pattern.error().text.find("$user_agent"), std::string::npos) << pattern.error().text;
  }
}

// Random bytes in every text, also such that begin and end UTF-8 characters and JSON.
TEST(AccessLog, IsOneLineOfPrintableAsciiWhateverAPeerSends) {
  std::mt19937 random(7);  // NOLINT: the same bytes in each run
  const std::string_view favourites = "\"\\\n\r\x1B[]{},:\xC2\xE2\xF0\x9B\x80\xBF\xED\xA0 \x7F\0$";
  const auto text = [&] {
    std::string bytes(random() % 40, '\0');
    if (random() % 50 == 0) bytes.resize(3000);
    for (char& c : bytes) {
      c = random() % 2 == 0 ? static_cast<char>(random())
                            : favourites[random() % favourites.size()];
    }
    return bytes;
  };
  const auto pattern = LogPattern::parse("$target $referer $user_agent $user").value();
  for (int i = 0; i < 5000; ++i) {
    const std::string texts[] = {text(), text(), text(), text(), text(), text()};
    const RequestRecord record{.peer = texts[0],
                               .target = texts[1],
                               .referer = texts[2],
                               .user_agent = texts[3],
                               .request_id = texts[4],
                               .user = texts[5]};
    const std::string json = json_line(record, now);
    for (const std::string& line : {combined_line(record, now), json, pattern.line(record, now)}) {
      ASSERT_TRUE(line.ends_with('\n'));
      ASSERT_TRUE(std::all_of(line.begin(), line.end() - 1, [](char c) {
        return c >= 0x20 && c < 0x7F;
      })) << line;
      ASSERT_LT(line.size(), 80'000u);
    }
    const Json parsed = Json::parse(json, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << json;
    ASSERT_EQ(parsed.at("status"), 200);
  }
}

}  // namespace
}  // namespace skua::operations
