// SPDX-License-Identifier: MIT
// `skua serve --config`: the same options from a file, and from the environment.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process.hpp"
#include "cli/serve_fixture.hpp"
#include "settings/settings_file.hpp"

namespace skua::test {
namespace {

class ConfigTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    if (!cli::has_settings_files()) GTEST_SKIP() << "this build has no toml++";
  }
  std::string file() const { return (configs_ / "f.toml").string(); }
  // What --print-config prints with this file.
  std::string printed(const std::string& config, std::vector<std::string> more = {}) const {
    configs_.write("f.toml", config);
    std::vector<std::string> arguments = {"serve", "--print-config", "--config", file()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Process process(std::move(arguments));
    std::string text = process.output();
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return text;
  }
  // The first line on stderr, if a file is refused.
  std::string refusal(const std::string& config, std::vector<std::string> more = {}) const {
    configs_.write("f.toml", config);
    std::vector<std::string> arguments = {"serve", tree_.string(), "--config", file()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Process process(std::move(arguments));
    const std::string text = process.errors();
    EXPECT_EQ(process.wait(), 2) << text;
    return text.substr(0, text.find('\n'));
  }
  static bool has_line(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
  }

  support::TemporaryDirectory configs_;
};

TEST_F(ConfigTest, ServesAsTheFileSays) {
  configs_.write("f.toml", "dir = '" + tree_.string() +
                               "'\nport = 0\nspa = true\nno-listing = true\ndotfiles = false\n"
                               "header = ['X-A: a', 'X-B: b [*.txt]']\n");
  Process process({"serve", "--config", file()});
  const std::string first = process.line();
  port_ = static_cast<std::uint16_t>(std::stoul("0" + first.substr(first.rfind(':') + 1)));
  const std::string page = get("/users");
  EXPECT_EQ(status(page), "200");
  EXPECT_NE(page.find("\r\nX-A: a\r\n"), page.npos);
  EXPECT_EQ(page.find("\r\nX-B: b\r\n"), page.npos);
  EXPECT_NE(get("/a%20b.txt").find("\r\nX-B: b\r\n"), page.npos);
  EXPECT_EQ(status(get("/.env")), "404");
}

TEST_F(ConfigTest, TheCommandLineBeatsTheEnvironmentWhichBeatsTheFile) {
  const std::string config = "port = 1\nthreads = 1\nmax-age = 1\nheader = ['X-A: file']\n";
  const Environment port("SKUA_SERVE_PORT", "2");
  const Environment threads("SKUA_SERVE_THREADS", "2");
  const Environment listing("SKUA_SERVE_NO_LISTING", "true");
  const std::string text = printed(config, {"--port", "3", "--header", "X-A: command"});
  EXPECT_TRUE(has_line(text, "port = 3")) << text;
  EXPECT_TRUE(has_line(text, "threads = 2")) << text;
  EXPECT_TRUE(has_line(text, "no-listing = true")) << text;
  EXPECT_TRUE(has_line(text, "max-age = 1")) << text;
  EXPECT_TRUE(has_line(text, "header = [\"X-A: command\"]")) << text;
}

TEST_F(ConfigTest, AFlagOfTheCommandLineBeatsItsOppositeInTheFile) {
  const std::string text = printed("host = '::1'\n", {"--public"});
  EXPECT_TRUE(has_line(text, "public = true")) << text;
  EXPECT_TRUE(has_line(text, "# host = \"127.0.0.1\"")) << text;
}

TEST_F(ConfigTest, ReadsWhatItPrints) {
  const std::string config =
      "dir = 'a\"b'\nport = 0\nindex = ''\nno-http2 = true\nspa = 'app.html'\ncors = true\n"
      "redirect = ['/a=/b 308']\nallow = ['10.0.0.0/8', '::1']\ncache = ['*.js=immutable']\n";
  const std::string first = printed(config);
  EXPECT_TRUE(has_line(first, "dir = \"a\\\"b\"")) << first;
  EXPECT_TRUE(has_line(first, "spa = \"app.html\"")) << first;
  EXPECT_TRUE(has_line(first, "cors = true")) << first;
  EXPECT_TRUE(has_line(first, "allow = [\"10.0.0.0/8\", \"::1\"]")) << first;
  EXPECT_EQ(printed(first), first);
}

TEST_F(ConfigTest, SaysWhereAndWhatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"port = 80\nhots = 1\n", ":2:1: unknown key 'hots', did you mean 'host'?"},
      {"nonsense = 1\n", ":1:1: unknown key 'nonsense'"},
      {"config = 'x'\n", ":1:1: unknown key 'config'"},
      {"port = 'x'\n", ":1:8: port: 'x' is not a whole number from 0 to 65535"},
      {"port = true\n", ":1:8: port needs a value, not true or false"},
      {"port = [80]\n", ":1:8: port takes one value, not an array"},
      {"header = ['nonsense']\n",
       ":1:10: header: 'nonsense' does not start with a name and a colon"},
      {"quiet = 'maybe'\n", ":1:9: "},
      {"[server]\nport = 1\n", ":1:1: server is not a text"},
      {"port 80\n", ":1:6: "},
      {"host = '::1'\npublic = true\n", ":2:1: public and host cannot be used together"},
  };
  for (const auto& [config, problem] : cases) {
    const std::string errors = refusal(config);
    EXPECT_TRUE(errors.starts_with("skua: " + file() + problem)) << errors;
  }
}

TEST_F(ConfigTest, ChecksOptionsOfAllSourcesTogether) {
  EXPECT_TRUE(refusal("redirect-http = 81\n").starts_with("skua: --redirect-http: needs HTTPS"));
}

TEST_F(ConfigTest, SaysIfItCannotReadTheFile) {
  Process process({"serve", "--config", "/nowhere/f.toml"});
  EXPECT_TRUE(process.errors().starts_with("skua: --config: cannot read /nowhere/f.toml: "));
  EXPECT_EQ(process.wait(), 2);
}

TEST_F(ServeTest, SaysWhichVariableIsMalformed) {
  const Environment port("SKUA_SERVE_PORT", "x");
  Process process({"serve"});
  EXPECT_TRUE(process.errors().starts_with("skua: SKUA_SERVE_PORT: ")) << process.errors();
  EXPECT_EQ(process.wait(), 2);
}

TEST_F(ServeTest, SaysThatAVariableIsUnknown) {
  {
    const Environment upload("SKUA_SERVE_UPLAOD", "true");
    Process process({"serve"});
    EXPECT_TRUE(
        process.errors().starts_with("skua: SKUA_SERVE_UPLAOD: no option has this variable, "
                                     "did you mean SKUA_SERVE_UPLOAD?\n"));
    EXPECT_EQ(process.wait(), 2);
  }
  const Environment service("SKUA_SERVE_SERVICE_HOST", "10.0.0.1");  // as Kubernetes sets it
  start();
}

TEST_F(ServeTest, SaysIfItCannotReadConfigurationFiles) {
  if (cli::has_settings_files()) GTEST_SKIP() << "this build has toml++";
  Process process({"serve", "--config", "x"});
  EXPECT_TRUE(process.errors().starts_with("skua: --config: this build of skua has no toml++\n"));
  EXPECT_EQ(process.wait(), 2);
}

}  // namespace
}  // namespace skua::test
