// SPDX-License-Identifier: MIT
// `skua serve --trust-proxy`: the client that a proxy tells of.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/serve_fixture.hpp"

namespace skua::test {
namespace {

class TrustProxyOption : public ServeTest {
 protected:
  /// The address that the access log has for a request with these fields.
  std::string logged(const std::string& fields) {
    EXPECT_EQ(status(ask("GET / HTTP/1.1\r\n" + fields + "X-Last: 1")), "200");
    return process_->line();
  }
  std::string errors(std::vector<std::string> options, int code) const {
    std::vector<std::string> words = {"serve", tree_.string(), "--port", "0", "--trust-proxy"};
    words.insert(words.end(), options.begin(), options.end());
    Process process(std::move(words));
    std::string text = process.errors();
    EXPECT_EQ(process.wait(), code) << text;
    return text;
  }
};

TEST_F(TrustProxyOption, TakesTheClientFromTheFields) {
  tree_.write("lists/proxies", "127.0.0.0/8  # this machine\n");
  start({"--quiet", "--log", "-", "--log-format", "$address", "--trust-proxy",
         "@" + (tree_ / "lists/proxies").string(), "--trust-proxy", "10.0.0.0/8", "--forwarded",
         "x-forwarded"});
  EXPECT_EQ(logged("X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.0.0.2\r\n"), "192.0.2.1");
  EXPECT_EQ(logged("Forwarded: for=192.0.2.1\r\n"), "127.0.0.1");
}

TEST_F(TrustProxyOption, TakesTheClientFromForwarded) {
  start({"--quiet", "--log", "-", "--log-format", "$address", "--trust-proxy", "127.0.0.1",
         "--forwarded", "forwarded"});
  EXPECT_EQ(logged("Forwarded: for=\"[2001:db8::1]\"\r\n"), "2001:db8::1");
  EXPECT_EQ(logged("X-Forwarded-For: 192.0.2.1\r\n"), "127.0.0.1");
}

TEST_F(TrustProxyOption, TakesTheClientFromAHeaderOfTheConnection) {
  start({"--quiet", "--log", "-", "--log-format", "$address $peer", "--trust-proxy", "127.0.0.1",
         "--proxy-protocol"});
  const Connection connection(port_);
  connection.send("PROXY TCP4 192.0.2.1 198.51.100.2 50123 80\r\n");
  connection.send("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(status(connection.receive()), "200");
  EXPECT_EQ(process_->line(), "192.0.2.1 192.0.2.1:50123");
  EXPECT_EQ(get("/"), "");
}

TEST_F(TrustProxyOption, LimitsTheClientsOfAProxy) {
  start({"--trust-proxy", "127.0.0.1", "--forwarded", "x-forwarded", "--rate", "1/min"});
  const auto from = [this](const std::string& address) {
    return status(ask("GET / HTTP/1.1\r\nX-Forwarded-For: " + address));
  };
  EXPECT_EQ(from("192.0.2.1"), "200");
  EXPECT_EQ(from("192.0.2.2"), "200");
  EXPECT_EQ(from("192.0.2.1"), "429");
}

TEST_F(TrustProxyOption, ProxiesHaveClientsElsewhere) {
  const std::string text = errors({"127.0.0.1", "--forwarded", "forwarded", "--upload"}, 1);
  EXPECT_TRUE(text.starts_with("skua: --upload: everyone who reaches this machine")) << text;
}

TEST_F(TrustProxyOption, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(errors({"10.0.0.1"}, 1),
            "skua: --trust-proxy: say how the proxies tell who the client is, with --forwarded or "
            "--proxy-protocol\n");
  EXPECT_EQ(errors({"10.0.0.0/33", "--proxy-protocol"}, 1),
            "skua: --trust-proxy: \"10.0.0.0/33\" is not a network such as 10.0.0.0/8 or ::1\n");
  EXPECT_TRUE(errors({"@/nowhere/list", "--proxy-protocol"}, 1)
                  .starts_with("skua: --trust-proxy: cannot read"));
  EXPECT_NE(errors({"unix", "--forwarded", "both"}, 2).find("--forwarded"), std::string::npos);
  Process alone({"serve", tree_.string(), "--proxy-protocol"});
  EXPECT_NE(alone.errors().find("--trust-proxy"), std::string::npos);
  EXPECT_EQ(alone.wait(), 2);
}

}  // namespace
}  // namespace skua::test
