// SPDX-License-Identifier: MIT
// `skua proxy`: a gateway in front of servers of this test.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/serve_fixture.hpp"
#include "crypto/digest.hpp"
#include "skua.hpp"
#include "support/closed_port.hpp"
#include "support/scripted_server.hpp"
#include "support/test_server.hpp"

namespace skua::test {
namespace {

class ProxyCommand : public ServeTest {
 protected:
  ProxyCommand() {
    for (const std::string name : {"a", "b"}) {
      Router& router = *routers_.emplace_back(std::make_unique<Router>());
      router.any("/{path...}", [name](const Request& request, std::string_view) {
        return name + " " + std::string(request.target()) + " " + std::string(request.host());
      });
      servers_.push_back(std::make_unique<testing::TestServer>(
          router, BackendChoice::Auto, ServerOptions{}, testing::Transport::Tcp));
    }
  }
  [[nodiscard]] std::string port(std::size_t index) const {
    return std::to_string(servers_[index]->port());
  }
  void start_proxy(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "proxy");
    for (const char* const more : {"--port", "0", "--threads", "2"}) arguments.emplace_back(more);
    process_ = std::make_unique<Process>(std::move(arguments));
    const std::string first = process_->line();
    constexpr std::string_view host = "listening on http://127.0.0.1:";
    ASSERT_TRUE(first.starts_with(host)) << first << process_->errors();
    port_ = static_cast<std::uint16_t>(std::stoul(first.substr(host.size())));
  }
  static std::string body(const std::string& response) {
    return response.substr(response.find("\r\n\r\n") + 4);
  }
  static std::string usage_error(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "proxy");
    Process process(std::move(arguments));
    std::string errors = process.errors();
    EXPECT_EQ(process.wait(), 2) << errors;
    return errors.substr(0, errors.find('\n'));
  }

  std::vector<std::unique_ptr<Router>> routers_;
  std::vector<std::unique_ptr<testing::TestServer>> servers_;
};

TEST_F(ProxyCommand, PassesEverythingOn) {
  start_proxy({"http://127.0.0.1:" + port(0)});
  EXPECT_EQ(body(get("/")), "a / localhost");
  EXPECT_EQ(body(get("/x/y?z=1")), "a /x/y?z=1 localhost");
  EXPECT_EQ(body(ask("POST /x HTTP/1.1\r\nContent-Length: 0")), "a /x localhost");
}

TEST_F(ProxyCommand, PassesMethodsAndPathsOnAsSent) {
  start_proxy({"http://127.0.0.1:" + port(0)});
  EXPECT_EQ(body(get("//x///y/")), "a //x///y/ localhost");
  EXPECT_EQ(body(ask("REPORT /x HTTP/1.1\r\nContent-Length: 0")), "a /x localhost");
  EXPECT_EQ(status(ask("report /x HTTP/1.1")), "200");
  EXPECT_EQ(status(ask("get /x HTTP/1.1")), "501");
  EXPECT_EQ(status(get("/a%2F..%2Fb")), "400");
}

TEST_F(ProxyCommand, PassesEncodedSlashesOn) {
  testing::ScriptedServer server([](testing::Client& client) {
    std::string head;
    while (head.find("\r\n\r\n") == head.npos) head.append(client.some());
    const std::string line = head.substr(0, head.find('\r'));
    client.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(line.size()) + "\r\n\r\n" +
                line);
  });
  start_proxy({":" + std::to_string(server.port())});
  EXPECT_EQ(body(get("/group%2Fproject//x?y")), "GET /group%2Fproject//x?y HTTP/1.1");
}

TEST_F(ProxyCommand, AReloadDoesNotEndIt) {
  start_proxy({":" + port(0)});
  process_->signal(SIGHUP);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status(get("/")), "200");
  process_->signal(SIGHUP);
  EXPECT_EQ(status(get("/")), "200");
  process_->signal(SIGTERM);
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ProxyCommand, StaysLoudEnoughToTellOfErrors) {
  const testing::ClosedPort dead;
  start_proxy({":" + std::to_string(dead.number()), "--quiet"});
  EXPECT_EQ(status(get("/x")), "502");
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_TRUE(errors.starts_with("skua: GET /x: could not ")) << errors;
  EXPECT_EQ(errors.find("stopping"), errors.npos) << errors;
}

TEST_F(ProxyCommand, SaysWhyACertificateIsNotAccepted) {
  if (!crypto::is_available()) GTEST_SKIP() << "needs TLS";
  const testing::TestServer server(*routers_.front(), BackendChoice::Auto, ServerOptions{},
                                   testing::Transport::Tls);
  start_proxy({"https://127.0.0.1:" + std::to_string(server.port())});
  EXPECT_EQ(status(get("/x")), "502");
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: GET /x: could not speak TLS with "), errors.npos) << errors;
  EXPECT_NE(errors.find(" was not accepted: "), errors.npos) << errors;
  EXPECT_NE(errors.find("of the chain"), errors.npos) << errors;
}

TEST_F(ProxyCommand, TellsTargetsAsMuchAsItIsTold) {
  start_proxy({":" + port(0),
               "--health-check",
               "/readyz",
               "--health-port",
               port(1),
               "--health-method",
               "HEAD",
               "--health-host",
               "ready.example",
               "--health-status",
               "200",
               "--connect-timeout",
               "1",
               "--content-timeout",
               "1",
               "--tunnel-timeout",
               "1",
               "--websocket-spread",
               "1",
               "--keep-websockets",
               "--connections",
               "10",
               "--send-forwarded",
               "none"});
  EXPECT_EQ(status(get("/")), "200");
  EXPECT_NE(usage_error({"a", "--health-port", "1"}).find("--health-check"), std::string::npos);
  EXPECT_NE(usage_error({"a", "--health-check", "/", "--health-method", "A B"}).find("method"),
            std::string::npos);
  EXPECT_NE(usage_error({"a", "--send-forwarded", "all"}).find("--send-forwarded"),
            std::string::npos);
}

TEST_F(ProxyCommand, BalancesByWeight) {
  start_proxy({":" + port(0) + ",weight=2", "127.0.0.1:" + port(1), "--balance", "round-robin"});
  std::map<char, int> count;
  for (int i = 0; i < 9; ++i) ++count[body(get("/")).front()];
  EXPECT_EQ(count, (std::map<char, int>{{'a', 6}, {'b', 3}}));
}

TEST_F(ProxyCommand, AServerThatIsDeadIsReplacedAndReported) {
  const testing::ClosedPort dead;
  const std::string name = "127.0.0.1:" + std::to_string(dead.number());
  start_proxy({name, ":" + port(1), "--balance", "round-robin", "--change-host"});
  for (int i = 0; i < 12; ++i) EXPECT_EQ(body(get("/")), "b / 127.0.0.1:" + port(1));
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: upstream targets: " + name + " gets no requests for 10 s"),
            errors.npos)
      << errors;
  EXPECT_EQ(process_->wait(), 0);
}

TEST_F(ProxyCommand, OneServerThatIsDeadIsA502WithAReason) {
  const testing::ClosedPort dead;
  start_proxy({":" + std::to_string(dead.number())});
  EXPECT_EQ(status(get("/x")), "502");
  process_->signal(SIGTERM);
  const std::string errors = process_->errors();
  EXPECT_NE(errors.find("skua: GET /x: could not "), errors.npos) << errors;
}

TEST_F(ProxyCommand, TheAdminServerHasItsMetrics) {
  start_proxy({":" + port(0), "--admin", "0"});
  const std::string line = process_->line();
  const std::string place = "admin on http://127.0.0.1:";
  ASSERT_TRUE(line.starts_with(place)) << line;
  EXPECT_EQ(status(get("/")), "200");
  port_ = static_cast<std::uint16_t>(std::stoul(line.substr(place.size())));
  const std::string metrics = get("/metrics");
  EXPECT_NE(metrics.find("skua_upstream_requests_total{upstream=\"targets\",target=\"127.0.0.1:" +
                         port(0) + "\",result=\"answered\"} 1\n"),
            metrics.npos)
      << metrics;
}

TEST_F(ProxyCommand, SaysWhatItCannotUse) {
  EXPECT_NE(usage_error({}).find("TARGET"), std::string::npos);
  EXPECT_EQ(usage_error({"ftp://a"}),
            "skua: TARGET: upstream 'ftp://a': it has to begin with http://, https://, h2c:// or "
            "unix:/");
  EXPECT_EQ(usage_error({"a,weight=0"}),
            "skua: TARGET: 'a,weight=0': the weight is not a whole number from 1");
  EXPECT_EQ(usage_error({"a", "a"}),
            "skua: TARGET: upstream 'http://a': the server is there twice");
  EXPECT_NE(usage_error({"a", "--balance", "best"}).find("--balance"), std::string::npos);
}

}  // namespace
}  // namespace skua::test
