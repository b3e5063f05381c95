// SPDX-License-Identifier: MIT
// What `skua serve` does at its start for the person who runs it: --open, --qr, and another port.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "serve/launch/browser.hpp"
#include "serve/launch/launch.hpp"
#include "serve/launch/ports.hpp"
#include "serve/launch/qr_code.hpp"

namespace skua::test {
namespace {

TEST(LastPort, IsAnotherOneForPeopleWhoHaveNotChosen) {
  cli::ServeOptions options;
  options.fixed["--port"] = {};
  EXPECT_EQ(cli::last_port(options, true), 8090);
  EXPECT_EQ(cli::last_port(options, false), 8080);
  options.server.port = 65'530;
  EXPECT_EQ(cli::last_port(options, true), 65'535);
  options.server.host = "unix:/run/skua";
  EXPECT_EQ(cli::last_port(options, true), 65'530);
  options.server.host = "127.0.0.1";
  options.fixed["--port"] = {"65530"};
  EXPECT_EQ(cli::last_port(options, true), 65'530);
  options.fixed["--port"] = {};
  options.server.port = 0;
  EXPECT_EQ(cli::last_port(options, true), 0);
}

TEST(Urls, AreThoseThatABrowserReaches) {
  EXPECT_EQ(cli::browser_url("http://127.0.0.1:80"), "http://127.0.0.1:80");
  EXPECT_EQ(cli::browser_url("https://0.0.0.0:8080"), "https://127.0.0.1:8080");
  EXPECT_EQ(cli::browser_url("http://[::]:1"), "http://[::1]:1");
  EXPECT_EQ(cli::browser_url("unix:/run/skua"), "");
  std::vector<Address> addresses;
  for (const char* text : {"127.0.0.1", "169.254.1.1", "192.168.1.5", "10.0.0.1"}) {
    addresses.push_back(Address::parse(text, 0).value());
  }
  EXPECT_EQ(cli::public_url("https://0.0.0.0:8080", addresses), "https://192.168.1.5:8080");
  EXPECT_EQ(cli::public_url("http://0.0.0.0:8080", {}), "");
  EXPECT_EQ(cli::public_url("http://127.0.0.1:8080", addresses), "");
  EXPECT_EQ(cli::public_url("http://10.0.0.1:8080", {}), "http://10.0.0.1:8080");
  EXPECT_EQ(cli::public_url("unix:/run/skua", addresses), "");
}

// Reads a drawing back: whether each half of each character is drawn.
std::vector<std::vector<bool>> halves_of(const std::string& drawing) {
  std::vector<std::vector<bool>> rows;
  std::istringstream lines(drawing);
  for (std::string line; std::getline(lines, line);) {
    std::array<std::vector<bool>, 2> pair;
    std::string_view rest = line;
    if (rest.starts_with("\x1b")) rest.remove_prefix(rest.find('m') + 1);
    while (!rest.empty() && !rest.starts_with("\x1b")) {
      const bool both = rest.starts_with("\u2588");
      pair[0].push_back(both || rest.starts_with("\u2580"));
      pair[1].push_back(both || rest.starts_with("\u2584"));
      rest.remove_prefix(rest.starts_with(' ') ? 1 : 3);
    }
    rows.insert(rows.end(), pair.begin(), pair.end());
  }
  return rows;
}

TEST(QrCode, IsDrawnWithItsQuietZone) {
  const cli::QrCode code{.side = 3,
                         .dark = {true, false, true, false, true, false, true, true, true}};
  for (const bool has_colours : {true, false}) {
    const auto rows = halves_of(cli::draw_qr_code(code, has_colours));
    ASSERT_EQ(rows.size(), 12U);
    for (std::size_t row = 0; row < 11; ++row) {
      ASSERT_EQ(rows[row].size(), 11U);
      for (std::size_t column = 0; column < 11; ++column) {
        EXPECT_EQ(rows[row][column] == has_colours, code.is_dark(row - 4, column - 4));
      }
    }
  }
}

TEST(QrCode, HasTheFinderPatternsOfItsKind) {
  if (!cli::has_qr_codes()) GTEST_SKIP() << "this build has no libqrencode";
  const cli::QrCode code = cli::make_qr_code("http://192.168.1.5:8080").value();
  ASSERT_GE(code.side, 21U);
  EXPECT_EQ(code.side % 4, 1U);
  for (const auto& [row, column] :
       {std::pair<std::size_t, std::size_t>(0, 0), {0, code.side - 7}, {code.side - 7, 0}}) {
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_TRUE(code.is_dark(row, column + i) && code.is_dark(row + 6, column + i));
      EXPECT_EQ(code.is_dark(row + 1, column + i), i == 0 || i == 6);
    }
  }
  EXPECT_EQ(cli::make_qr_code(std::string(5000, 'x')).error().code(), Errc::BodyTooLong);
}

class LaunchTest : public ServeTest {
 protected:
  // The programs of this test come first; without `others`, they are all.
  void start_with_programs(const std::vector<std::string>& options, bool others) {
    const std::string before = std::getenv("PATH");
    setenv("PATH", (programs_.string() + (others ? ":" + before : "")).c_str(), 1);
    start(options);
    setenv("PATH", before.c_str(), 1);
  }
  // Puts a program called xdg-open before all others.
  void install(const std::string& script) const {
    programs_.write("xdg-open", "#!/bin/sh\n" + script);
    chmod((programs_ / "xdg-open").c_str(), 0755);
  }
  [[nodiscard]] std::string result() const {
    std::ifstream file(programs_ / "result");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  support::TemporaryDirectory programs_;
};

TEST_F(LaunchTest, OpensTheBrowserWithNothingOfItsOwn) {
  install("{ echo \"$# $1\"; ls -l /proc/$$/fd; grep SigBlk /proc/self/status; } >'" +
          (programs_ / "result").string() + "'\nexit 3\n");
  start_with_programs({"--open"}, true);
  const std::string said = process_->errors_until("exit code 3");
  EXPECT_NE(said.find("skua: --open: xdg-open found no browser for this URL (exit code 3)"),
            said.npos)
      << said;
  const std::string seen = result();
  EXPECT_TRUE(seen.starts_with("1 http://127.0.0.1:" + std::to_string(port_) + "\n")) << seen;
  for (const char* kind : {"socket:", "pipe:", "anon_inode:"}) {
    EXPECT_EQ(seen.find(kind), seen.npos) << seen;
  }
  EXPECT_NE(seen.find("SigBlk:\t0000000000000000"), seen.npos) << seen;
  EXPECT_EQ(status(get("/")), "200");
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(LaunchTest, ServesIfThereIsNoBrowser) {
  start_with_programs({"--open"}, false);
  EXPECT_NE(process_->errors_until("--open").find("skua: --open: cannot start xdg-open: "),
            std::string::npos);
  EXPECT_EQ(status(get("/")), "200");
}

TEST_F(LaunchTest, PrintsAQrCodeOnlyOfWhatOthersReach) {
  if (!cli::has_qr_codes()) GTEST_SKIP() << "this build has no libqrencode";
  start({"--qr"});
  EXPECT_NE(process_->errors_until("--qr").find("no other machine reaches this server"),
            std::string::npos);
}

}  // namespace
}  // namespace skua::test
