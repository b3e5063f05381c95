// SPDX-License-Identifier: MIT
// `skua serve --vhost` and `--rate`.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "coding/coding.hpp"
#include "serve/site/rate.hpp"
#include "serve/site/virtual_hosts.hpp"
#include "settings/settings_file.hpp"
#include "support/manual_times.hpp"

namespace skua::test {
namespace {

using cli::VirtualHost;

std::vector<VirtualHost> hosts_of(const std::vector<std::string>& texts) {
  std::vector<VirtualHost> hosts;
  for (const std::string& text : texts) cli::add_virtual_host(hosts, text);
  return hosts;
}

TEST(VirtualHosts, TheNarrowestOneHolds) {
  const auto hosts = hosts_of({"*.example.com=wild", "example.com=exact", "a.example.com=a",
                               "*.b.example.com=b", "127.0.0.1=four", "[::1]=six", "*.com=com"});
  const std::pair<const char*, const char*> cases[] = {
      {"example.com", "exact"},
      {"EXAMPLE.com:8080", "exact"},
      {"example.com.", "exact"},
      {"a.example.com", "a"},
      {"A.Example.Com.:80", "a"},
      {"x.example.com", "wild"},
      {"x.y.example.com", "wild"},
      {"x.b.example.com", "b"},
      {"b.example.com", "wild"},
      {"other.com", "com"},
      {"com", ""},
      {"xexample.com", "com"},
      {".example.com", ""},
      {"example.org", ""},
      {"example.com.evil.org", ""},
      {"127.0.0.1:9", "four"},
      {"[::1]", "six"},
      {"[0:0::1]:80", "six"},
      {"[::2]", ""},
      {"", ""},
      {"*.example.com", "wild"},
      {"a.example.com..", ""},
  };
  for (const auto& [authority, folder] : cases) {
    const VirtualHost* const found = cli::find_virtual_host(hosts, authority);
    EXPECT_EQ(found == nullptr ? "" : found->folder, folder) << authority;
  }
  EXPECT_EQ(cli::find_virtual_host(hosts, std::string(9000, '.') + "example.com"), nullptr);
}

TEST(VirtualHosts, MalformedOnesAreRefused) {
  for (const char* text : {"",         "a",         "=dir",         "a=",
                           "a:80=dir", "*=dir",     "*.=dir",       "a.*.b=dir",
                           "*a.b=dir", "a..b=dir",  ".a=dir",       "-/a=dir",
                           "a/b=dir",  "a b=dir",   "a@b=dir",      "\u00e4.example=dir",
                           "[::1=dir", "[x]=dir",   "[::1]:80=dir", "a,b=dir",
                           "%61=dir",  "*.*.a=dir", "http://a=dir"}) {
    EXPECT_THROW(hosts_of({text}), std::invalid_argument) << text;
  }
  EXPECT_THROW(hosts_of({"a=1", "A.=2"}), std::invalid_argument);
  EXPECT_THROW(hosts_of({"[::1]=1", "[0:0::1]=2"}), std::invalid_argument);
}

TEST(Rate, HasAUnitAndABurst) {
  const auto is = [](const std::string& text, std::size_t requests, Duration per,
                     std::size_t burst) {
    const RateLimitOptions options = cli::parse_rate(text);
    return options.requests == requests && options.per == per && options.burst == burst;
  };
  EXPECT_TRUE(is("10", 10, 1s, 0));
  EXPECT_TRUE(is("10/s", 10, 1s, 0));
  EXPECT_TRUE(is("600/min:50", 600, 1min, 50));
  EXPECT_TRUE(is("5:1000000", 5, 1s, 1'000'000));
  for (const char* text : {"",
                           "0",
                           "-1",
                           "x",
                           "10/h",
                           "10/",
                           "/s",
                           "10:",
                           "10:0",
                           "10/s:",
                           "10s",
                           "1e3",
                           " 10",
                           "10 ",
                           "10:5/s",
                           "1000001",
                           "10:1000001",
                           "10::5",
                           "99999999999999999999",
                           "+5",
                           "1.5"}) {
    EXPECT_THROW(cli::parse_rate(text), std::invalid_argument) << text;
  }
}

class VhostTest : public ServeTest {
 protected:
  void SetUp() override {
    ServeTest::SetUp();
    for (const char* site : {"a", "b"}) {
      others_.write(std::string(site) + "/index.html", site);
      // Or its tag would be another one in two seconds.
      support::set_modified(others_ / (std::string(site) + "/index.html"),
                            std::chrono::seconds(1'000'000'000));
      others_.write(std::string(site) + "/secret-" + site, site);
    }
  }
  [[nodiscard]] std::string rule(const std::string& host, const std::string& folder) const {
    return host + "=" + (others_ / folder).string();
  }
  [[nodiscard]] std::string of(const std::string& host, const std::string& target = "/",
                               const std::string& fields = "",
                               const std::string& method = "GET") const {
    const Connection connection(port_);
    connection.send(method + " " + target + " HTTP/1.1\r\nHost: " + host +
                    "\r\nConnection: close\r\n" + fields + "\r\n");
    return connection.receive();
  }
  static std::string body(const std::string& response) {
    return response.substr(response.find("\r\n\r\n") + 4);
  }

  support::TemporaryDirectory others_;
};

// A page whose name an attacker makes an address of this machine has that name in Host.
TEST_F(VhostTest, OnLoopbackOthersNamesAreRefused) {
  struct Case {
    std::vector<std::string> options;
    bool is_checked = true;
  };
  const std::vector<std::string> mine = {"localhost",       "LOCALHOST:80", "localhost.", "[::1]",
                                         "app.localhost:1", "127.0.0.1:80", "10.0.0.1"};
  const std::vector<std::string> others = {
      "evil.example",           "evil.example:8080",  "localhost.evil", "evillocalhost",
      "127.0.0.1.evil.example", "127.0.0.1a.example", "evil.example."};
  const Case cases[] = {
      {{}},
      {{"--host", "localhost"}},
      {{"--spa", "--watch"}},
      {{"--upload"}},
      {{"--cors"}},
      {{"--proxy", "/api=http://127.0.0.1:1"}},
      {{"--allow-host", "good.example"}},
      {{"--host", "0.0.0.0"}, false},
      {{"--vhost", rule("a.example", "a")}, false},
      {{"--trust-proxy", "127.0.0.1", "--forwarded", "forwarded"}, false},
      {{"--upload", "--upload-anyone"}, false},
      {{"--allow-host", "*"}, false},
      {{"--allow-host", "*.example", "--allow-host=localhost.evil", "--allow-host",
        "evillocalhost"},
       false},
  };
  for (const auto& [options, is_checked] : cases) {
    start(options);
    for (const std::string& host : mine) EXPECT_EQ(status(of(host)), "200") << host;
    for (const std::string& host : others) {
      for (const char* target : {"/", "/index.html", "/missing", "/?archive=zip"}) {
        const std::string refused = status(of(host, target));
        EXPECT_EQ(refused == "403", is_checked) << host << target << " " << options.size();
      }
    }
  }
}

TEST_F(VhostTest, ALoginAnswersForItself) {
  const Environment login("SKUA_AUTH", "ada:pass");
  start();
  EXPECT_EQ(status(of("nas.example")), "401");
}

TEST_F(VhostTest, ClientsWithoutAHostAreNoBrowsers) {
  start();
  const Connection connection(port_);
  connection.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_EQ(status(connection.receive()), "200");
}

TEST_F(VhostTest, RefusalsNameTheOption) {
  start({"--allow-host", "good.example"});
  EXPECT_EQ(status(of("good.example:80")), "200");
  EXPECT_NE(of("evil.example").find("--allow-host"), std::string::npos);
  Process process({"serve", "--allow-host", "good.example:80"});
  EXPECT_NE(process.errors().find("is not a host such as"), std::string::npos);
}

TEST_F(VhostTest, EachHostHasItsFolder) {
  start({"--vhost", rule("a.example", "a"), "--vhost", rule("*.b.example", "b")});
  EXPECT_EQ(body(of("a.example")), "a");
  EXPECT_EQ(body(of("A.EXAMPLE.:1")), "a");
  EXPECT_EQ(body(of("www.b.example")), "b");
  for (const char* host : {"localhost", "b.example", "other.example", "127.0.0.1", "[::1]"}) {
    EXPECT_EQ(body(of(host)), "<h1>home</h1>") << host;
  }
  EXPECT_EQ(status(of("a.example", "/a%20b.txt")), "404");
  EXPECT_EQ(body(of("other", "http://a.example/")), "a") << "the target counts, RFC 9112 3.2.2";
}

TEST_F(VhostTest, AuthorityIsTheHostOverHttp2) {
  start({"--vhost", rule("a.example", "a")});
  const std::string port = std::to_string(port_);
  for (const auto& [host, page] : {std::pair("A.example.", "a"), {"b.example", "<h1>home</h1>"}}) {
    const std::string place = std::string(host) + ":" + port;
    Process client({"get", "--http2", "--no-proxy", "*", "http://" + place + "/", "--resolve",
                    place + ":127.0.0.1"});
    EXPECT_EQ(client.output(), page) << client.errors();
    EXPECT_EQ(client.wait(), 0);
  }
}

TEST_F(VhostTest, CachesAndTagsAreApart) {
  if (!coding::is_available(coding::Coding::Gzip)) GTEST_SKIP() << "this build has no zlib";
  start({"--compress", "--vhost", rule("a.example", "a"), "--vhost", rule("b.example", "b")});
  const auto tag = [](const std::string& response) {
    const std::size_t begin = response.find("\r\nETag: ") + 8;
    return response.substr(begin, response.find("\r\n", begin) - begin);
  };
  const std::string a = tag(of("a.example"));
  const std::string b = tag(of("b.example"));
  EXPECT_NE(a, b);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(status(of("a.example", "/", "If-None-Match: " + a + "\r\n")), "304");
    EXPECT_EQ(body(of("b.example", "/", "If-None-Match: " + a + "\r\n")), "b");
    EXPECT_EQ(body(of("a.example", "/", "If-None-Match: " + b + "\r\n")), "a");
  }
}

TEST_F(VhostTest, HostileHostsAndPathsReachNoOtherFolder) {
  start({"--archive", "--vhost", rule("a.example", "a"), "--vhost", rule("b.example", "b")});
  for (const char* host : {"a.example/../b.example", "a.example@b.example", "b.example,a.example",
                           "../b", "a.example\\b", "a.example:b.example", "a.example:99999",
                           "%61.example", "a.example%2fb", "a.example b.example", "a.example#",
                           "a.example?", "a\xc3\xa4.example", "[a.example]", "", "a..example"}) {
    const std::string response = of(host, "/secret-b");
    EXPECT_NE(response.empty() ? "400" : status(response), "200") << host;
  }
  EXPECT_EQ(status(of("a.example", "/", "Host: b.example\r\n")), "400");
  for (const char* path :
       {"/../b/secret-b", "/%2e%2e/b/secret-b", "/..%2fb/secret-b", "/..%5cb/secret-b",
        "/%2e%2e%2fb%2fsecret-b", "//b.example/secret-b", "/.%2e/b/secret-b", "/..;/b/secret-b",
        "/%252e%252e/b/secret-b", "/b/secret-b", "/%c0%ae%c0%ae/b/secret-b"}) {
    const std::string response = of("a.example", path);
    EXPECT_TRUE(status(response) == "404" || status(response) == "400") << path;
    EXPECT_EQ(of("a.example", std::string(path) + "/../?archive=tar").find("secret-b"),
              std::string::npos);
  }
  const std::string tar = of("a.example", "/?archive=tar");
  EXPECT_NE(tar.find("files/secret-a"), tar.npos);
  EXPECT_EQ(tar.find("secret-b"), tar.npos);
}

TEST_F(VhostTest, AllHaveTheSameOptions) {
  others_.write("a/404.html", "a has none");
  tree_.write("404.html", "none");
  start({"--spa", "--error-page", "404=404.html", "--header", "X-A: b", "--upload",
         "--upload-anyone", "--vhost", rule("a.example", "a")});
  EXPECT_EQ(body(of("a.example", "/users")), "a");
  EXPECT_EQ(body(of("a.example", "/x.js")), "a has none");
  EXPECT_EQ(body(of("other", "/x.js")), "none");
  EXPECT_NE(of("a.example").find("\r\nX-A: b\r\n"), std::string::npos);
  EXPECT_EQ(status(of("a.example", "/new", "Content-Length: 0\r\n", "PUT")), "201");
  EXPECT_TRUE(std::filesystem::exists(others_ / "a/new"));
  EXPECT_FALSE(std::filesystem::exists(tree_ / "new"));
}

TEST_F(VhostTest, SaysThatAFolderIsMissing) {
  Process process({"serve", tree_.string(), "--port", "0", "--vhost", rule("a.example", "none")});
  const std::string errors = process.errors();
  EXPECT_TRUE(errors.starts_with("skua: " + (others_ / "none").string() + ": no such folder"))
      << errors;
  EXPECT_EQ(process.wait(), 1);
  Process usage({"serve", tree_.string(), "--vhost", "a:80=x"});
  EXPECT_TRUE(usage.errors().starts_with("skua: --vhost: 'a:80' is not a host such as"));
  EXPECT_EQ(usage.wait(), 2);
}

TEST_F(VhostTest, AReloadOpensNothingOutsideTheSandbox) {
  if (!cli::has_settings_files()) GTEST_SKIP() << "this build has no toml++";
  const support::TemporaryDirectory configs;
  const std::string config = (configs / "f.toml").string();
  const auto vhost = [](const std::string& value) { return "vhost = ['" + value + "']\n"; };
  configs.write("f.toml", vhost(rule("a.example", "a")));
  start({"--config", config});
  EXPECT_EQ(body(of("a.example")), "a");
  configs.write("f.toml", vhost(rule("a.example", "b")));
  process_->signal(SIGHUP);
  const std::string said = process_->errors_until("keeping the old configuration: ");
  EXPECT_NE(said.find("does not let this server use " + (others_ / "b").string()), said.npos)
      << said;
  EXPECT_EQ(body(of("a.example")), "a");
  configs.write("f.toml", vhost(rule("new.example", "a")));
  process_->signal(SIGHUP);
  EXPECT_NE(process_->errors_until("reloaded").find("reloaded"), std::string::npos);
  EXPECT_EQ(body(of("new.example")), "a");
  EXPECT_EQ(body(of("a.example")), "<h1>home</h1>");
}

TEST_F(VhostTest, ClientsThatAskTooMuchHaveToWait) {
  start({"--rate", "2/min", "--vhost", rule("a.example", "a"), "--header", "X-A: b"});
  EXPECT_EQ(status(of("a.example")), "200");
  EXPECT_EQ(status(of("other")), "200") << "the hosts count together";
  const std::string refused = of("a.example");
  EXPECT_EQ(status(refused), "429");
  EXPECT_NE(refused.find("\r\nRetry-After: "), refused.npos);
  EXPECT_NE(refused.find("\r\nX-A: b\r\n"), refused.npos);
  start({"--rate", "1/min:3"});
  for (const char* expected : {"200", "404", "200", "429"}) {
    EXPECT_EQ(status(get(expected == std::string("404") ? "/none" : "/")), expected);
  }
  Process usage({"serve", tree_.string(), "--rate", "fast"});
  EXPECT_TRUE(usage.errors().starts_with("skua: --rate: 'fast' is not a rate such as 10"));
  EXPECT_EQ(usage.wait(), 2);
}

}  // namespace
}  // namespace skua::test
