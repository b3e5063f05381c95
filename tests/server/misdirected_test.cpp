// SPDX-License-Identifier: MIT
// 421 for hosts that the certificate does not cover, if the option is on. RFC 9110 §15.5.20
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/tls_connection.hpp"

namespace skua {
namespace {

using testing::TestServer;

class Misdirected : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    if (!tls::ClientContext::create({.insecure = true}, {})) GTEST_SKIP() << "no OpenSSL";
    router_.get("/", [] { return "hello"; });
  }
  static std::string status(const TestServer& server, std::string_view host) {
    testing::TlsConnection connection(server.port(), {.insecure = true});
    std::string request("GET / HTTP/1.1\r\nConnection: close\r\nHost: ");
    const std::string answer = connection.ask(request.append(host).append("\r\n\r\n"));
    return answer.substr(0, answer.find("\r\n")).substr(9);
  }

  Router router_;
};

TEST_P(Misdirected, AHostThatTheCertificateIsNotForIsRefusedWhereThatIsWanted) {
  const TestServer server(router_, GetParam(),
                          {.tls = {.self_signed = true, .refuses_misdirected_names = true}});
  for (const char* host : {"localhost", "LOCALHOST:8443", "127.0.0.1", "[::1]:1", "localhost."}) {
    EXPECT_EQ(status(server, host), "200 OK") << host;
  }
  for (const char* host : {"example.com", "localhost.example.com", "127.0.0.9", "[::2]"}) {
    EXPECT_EQ(status(server, host), "421 Misdirected Request") << host;
  }
}

TEST_P(Misdirected, AnyHostIsServedByDefault) {
  const TestServer server(router_, GetParam(), {.tls = {.self_signed = true}});
  EXPECT_EQ(status(server, "example.com"), "200 OK");
}

TEST_P(Misdirected, PlainHttpHasNoCertificateToCompareWith) {
  ServerOptions options{.port = 0, .backend = GetParam()};
  options.tls.refuses_misdirected_names = true;
  Server server(router_, options);
  const Result<void, Problem> started = server.start();
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().text.find("no certificate"), std::string::npos) << started.error().text;
}

INSTANTIATE_TEST_SUITE_P(Backends, Misdirected, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
