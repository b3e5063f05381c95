// SPDX-License-Identifier: MIT
// What ClientMetrics says of the requests and connections of clients. On every back end, over both
// versions of HTTP, with TLS and without.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client_fixture.hpp"
#include "support/closed_port.hpp"
#include "support/scripted_server.hpp"

namespace skua {
namespace {

using Peer = testing::Client;

class ClientMetering : public testing::ClientTest {
 protected:
  ClientMetering() {
    options_.metrics = client_;
    collect_clients(*metrics_, {client_});
    router_.get("/", [] { return "hello"; });
    router_.get("/moved", [] { return Response::redirect("/"); });
    router_.get("/fails", [] { return Status::InternalServerError; });
    router_.get("/never", [](Request&) -> Task<std::string> {
      co_await sleep(1h);
      co_return std::string("late");
    });
  }
  /// Returns a sample of the client: `connections{state="idle"}`, or `connections_opened_total`.
  [[nodiscard]] int of(const std::string& sample) const {
    const std::size_t brace = sample.find('{');
    const std::string labels = brace == sample.npos ? "}" : "," + sample.substr(brace + 1);
    const std::string name = sample.substr(0, brace);
    const std::string line = "\nskua_client_" + name + "{client=\"shop\"" + labels + " ";
    const std::string text = metrics_->text();
    const std::size_t begin = text.find(line);
    return begin == text.npos ? -1 : std::stoi(text.substr(begin + line.size()));
  }
  [[nodiscard]] int ended(const std::string& result) const {
    return of("requests_total{result=\"" + result + "\"}");
  }
  static Task<> ask(skua::Client& client, std::string url) {
    Result<std::string, Problem> text = co_await client.get(url).text();
    static_cast<void>(text.has_value());
  }

  const ClientMetrics client_{"shop"};
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
};

TEST_P(ClientMetering, CountsConnectionsAndRequests) {
  run([this](skua::Client& client) -> Task<> {
    for (const char* const path : {"/", "/moved", "/fails", "/nothing"}) {
      co_await ask(client, url(path));
    }
    EXPECT_EQ(of("connections{state=\"idle\"}"), 1);
    EXPECT_EQ(of("connections{state=\"busy\"}"), 0);
    Result<ClientResponse, Problem> held = co_await client.get(url("/"));
    EXPECT_TRUE(held);
  });
  EXPECT_EQ(of("connections_opened_total"), 1);
  EXPECT_EQ(of("connections_reused_total"), 5);
  EXPECT_EQ(ended("2xx"), 3) << "the target of the redirect, too";
  EXPECT_EQ(ended("3xx"), 1);
  EXPECT_EQ(ended("4xx"), 1);
  EXPECT_EQ(ended("5xx"), 1);
  EXPECT_EQ(of("request_duration_seconds_count"), 6);
  EXPECT_EQ(of("tls_handshakes_total{result=\"full\"}"), testing::is_secure(wire()) ? 1 : 0);
  for (const char* const state : {"idle", "busy", "connecting"}) {
    EXPECT_EQ(of("connections{state=\"" + std::string(state) + "\"}"), 0) << state;
  }
  EXPECT_EQ(of("responses_cut_total"), 0);
  EXPECT_EQ(of("wait_seconds_count"), 0);
}

TEST_P(ClientMetering, CountsResumedHandshakes) {
  if (!testing::is_secure(wire())) GTEST_SKIP() << "without TLS";
  options_.timeouts.idle_connection = 0s;
  run([this](skua::Client& client) -> Task<> {
    co_await ask(client, url("/"));
    while (of("connections{state=\"idle\"}") + of("connections{state=\"busy\"}") != 0) {
      co_await sleep(1ms);
    }
    co_await ask(client, url("/"));
  });
  EXPECT_EQ(of("tls_handshakes_total{result=\"full\"}"), 1);
  EXPECT_EQ(of("tls_handshakes_total{result=\"resumed\"}"), 1);
  EXPECT_EQ(of("connections_opened_total"), 2);
}

TEST_P(ClientMetering, TellsWhatARequestWaitsFor) {
  if (wire() == testing::Wire::Http2 || wire() == testing::Wire::Http2Tls) {
    GTEST_SKIP() << "its requests share a connection";
  }
  options_.connections_per_host = 1;
  run([this](skua::Client& client) -> Task<> {
    auto first = co_await client.get(url("/"));
    EXPECT_TRUE(first);
    std::optional held(std::move(first));
    EXPECT_EQ(of("connections{state=\"busy\"}"), 1);
    Scope scope;
    scope.spawn(ask(client, url("/")));
    EXPECT_EQ(of("requests_waiting"), 1);
    EXPECT_EQ(of("wait_seconds_count"), 0);
    held.reset();
    co_await scope.join();
    EXPECT_EQ(of("requests_waiting"), 0);
    EXPECT_EQ(of("wait_seconds_count"), 1);
  });
}

TEST_P(ClientMetering, CountsWhatIsDropped) {
  run([this](skua::Client& client) -> Task<> {
    std::optional<Scope> scope(std::in_place);
    scope->spawn(ask(client, url("/never")));
    while (of("connections{state=\"busy\"}") != 1) co_await sleep(1ms);
    scope.reset();
  });
  EXPECT_EQ(ended("cancelled"), 1);
  EXPECT_EQ(of("connections{state=\"busy\"}"), 0);
}

TEST_P(ClientMetering, CountsServersThatCannotBeReached) {
  const testing::ClosedPort port;
  const std::string nowhere = "http://127.0.0.1:" + std::to_string(port.number()) + "/";
  run([&nowhere](skua::Client& client) -> Task<> { co_await ask(client, nowhere); });
  EXPECT_EQ(ended("connect_failed"), 1);
  EXPECT_EQ(of("connections_opened_total"), 0);
  EXPECT_EQ(of("connections{state=\"connecting\"}"), 0);
}

TEST_P(ClientMetering, CountsServersThatFail) {
  if (wire() != testing::Wire::Http) GTEST_SKIP() << "the server is a script";
  testing::ScriptedServer server({[](Peer& peer) { static_cast<void>(peer.some()); },
                                  [](Peer& peer) {
                                    static_cast<void>(peer.some());
                                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut");
                                  },
                                  [](Peer& peer) {
                                    static_cast<void>(peer.some());
                                    peer.send("what?\r\n\r\n");
                                  }});
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  run([&url](skua::Client& client) -> Task<> {
    for (int i = 0; i < 3; ++i) co_await ask(client, url);
  });
  EXPECT_EQ(ended("closed"), 1);
  EXPECT_EQ(ended("2xx"), 1);
  EXPECT_EQ(of("responses_cut_total"), 1);
  EXPECT_EQ(ended("malformed"), 1);
  EXPECT_EQ(of("connections_opened_total"), 3);
}

INSTANTIATE_TEST_SUITE_P(All, ClientMetering, testing::client_test_values_of_both_versions(),
                         testing::client_test_name);

TEST(ClientMetrics, OfSeveralShareTheirFamilies) {
  Metrics metrics;
  collect_clients(metrics, {ClientMetrics("a"), ClientMetrics("b")});
  const std::string text = metrics.text(MetricsFormat::OpenMetrics);
  for (const char* const client : {"a", "b"}) {
    const std::string sample = "skua_client_connections_opened_total{client=\"";
    EXPECT_NE(text.find(sample + client + "\"} 0\n"), text.npos) << text;
  }
  const std::size_t family = text.find("# TYPE skua_client_requests counter");
  ASSERT_NE(family, text.npos);
  EXPECT_EQ(text.find("# TYPE skua_client_requests counter", family + 1), text.npos);
}

TEST(ClientMetrics, AreOneForAllCopies) {
  const ClientMetrics one("a");
  const ClientMetrics copy = one;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(&one.name(), &copy.name());
  EXPECT_EQ(copy.name(), "a");
}

}  // namespace
}  // namespace skua
