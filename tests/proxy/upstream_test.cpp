// SPDX-License-Identifier: MIT
// A reverse proxy in front of a group of servers: who gets a request, how long it waits, and what
// else the group does with it.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "crypto/digest.hpp"
#include "proxy/upstream_fixture.hpp"
#include "support/echo_socket.hpp"
#include "support/websocket_client.hpp"

namespace skua {
namespace {

using testing::Answer;
using testing::Client;
using testing::Gateway;
using testing::get;
using testing::NamedServer;
using testing::read_head;
using testing::ScriptedServer;
using testing::TestServer;
using testing::Transport;
using testing::wait_until;

const std::string gets = get("/api/x");

class Upstreams : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Gateway gateway_{GetParam()};
};

// Balancing --------------------------------------------------------------------------------------

TEST_P(Upstreams, TakeTurns) {
  const NamedServer a("a");
  const NamedServer b("b");
  gateway_.add(a);
  gateway_.add(b);
  std::string order;
  Client client = gateway_.connect();
  for (int i = 0; i < 6; ++i) {
    client.send(gets);
    order.append(client.answer()->body);
  }
  EXPECT_EQ(order, "ababab");
}

TEST_P(Upstreams, ThreadsTakeTurnsTogether) {
  const NamedServer a("a");
  const NamedServer b("b");
  gateway_.add(a);
  gateway_.add(b);
  gateway_.server_options.threads = 4;
  std::map<std::string, int> count;
  for (int i = 0; i < 20; ++i) ++count[gateway_.body_of(gets)];
  EXPECT_EQ(count, (std::map<std::string, int>{{"a", 10}, {"b", 10}}));
}

TEST_P(Upstreams, AKeyDecides) {
  std::vector<std::unique_ptr<NamedServer>> servers;
  for (int i = 0; i < 4; ++i) {
    servers.push_back(std::make_unique<NamedServer>(std::string(1, char('a' + i))));
    gateway_.add(*servers.back());
  }
  gateway_.options.balance.by = Balance::Hash;
  gateway_.options.balance.hash_header = "X-Shop";
  std::set<std::string> used;
  for (int shop = 0; shop < 20; ++shop) {
    const std::string request = get("/api/x", "X-Shop: " + std::to_string(shop) + "\r\n");
    const std::string first = gateway_.body_of(request);
    EXPECT_EQ(gateway_.body_of(request), first);
    used.insert(first);
  }
  EXPECT_GT(used.size(), 2U);
}

TEST_P(Upstreams, CookiesAndAddressesAreKeys) {
  const NamedServer a("a");
  const NamedServer b("b");
  for (const bool is_cookie : {true, false}) {
    Gateway gateway(GetParam());
    gateway.add(a);
    gateway.add(b);
    gateway.options.balance.by = Balance::Hash;
    if (is_cookie) gateway.options.balance.hash_cookie = "id";
    const std::string request = get("/api/x", "Cookie: x=1; id=7\r\n");
    const std::string first = gateway.body_of(request);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(gateway.body_of(request), first);
  }
}

TEST_P(Upstreams, PriorKnowledgeIsAScheme) {
  Router router;
  router.get("/api/x", [](const Request& request) {
    return request.version() == Version::Http2 ? "HTTP/2" : "HTTP/1";
  });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  gateway_.options.targets = {{.url = "h2c://127.0.0.1:" + std::to_string(server.port())}};
  EXPECT_EQ(gateway_.body_of(gets), "HTTP/2");
}

TEST_P(Upstreams, ATargetHasTlsOptionsOfItsOwn) {
  if (!crypto::is_available()) GTEST_SKIP() << "this build has no TLS";
  Router router;
  router.get("/api/x", [] { return "secret"; });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tls);
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port());
  for (const bool is_trusted : {true, false}) {
    Gateway gateway(GetParam());
    gateway.options.targets = {{.url = url}};
    if (is_trusted) gateway.options.targets[0].tls = ClientTlsOptions{.insecure = true};
    EXPECT_EQ(gateway.status_of(gets), is_trusted ? 200 : 502);
    wait_until([&] { return gateway.requests(0, is_trusted ? "answered" : "tls_failed") == 1; });
  }
}

TEST_P(Upstreams, APathReplacesThePrefix) {
  Router router;
  router.get("/v2/x", [] { return "v2"; });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  gateway_.options.targets = {{.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/v2"}};
  EXPECT_EQ(gateway_.body_of(gets), "v2");
}

TEST_P(Upstreams, TunnelsAreOutstandingUntilTheyEnd) {
  Router router;
  router.websocket("/api/ws", testing::echo);
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  gateway_.add(server);
  testing::WebSocketClient client(gateway_.connect());
  client.open(testing::handshake("/api/ws"));
  client.send("hello");
  EXPECT_EQ(client.text(), "hello");
  EXPECT_EQ(gateway_.upstream().targets()[0].outstanding, 1U);
  client.close(1000);
  EXPECT_EQ(client.text(), "<close 1000 >");
  wait_until([this] { return gateway_.requests(0, "answered") == 1; });
  wait_until([this] { return gateway_.upstream().targets()[0].outstanding == 0; });
}

TEST_P(Upstreams, AClientThatLeavesIsNoFailure) {
  std::promise<void> asked;
  const ScriptedServer server([&asked](Client& peer) {
    read_head(peer);
    asked.set_value();
    peer.rest();
  });
  Gateway gateway(GetParam());
  gateway.add(server);
  Client client = gateway.connect();
  client.send(gets);
  asked.get_future().wait();
  client.reset();
  wait_until([&gateway] { return gateway.requests(0, "cancelled") == 1; });
  wait_until([&gateway] { return gateway.upstream().targets()[0].outstanding == 0; });
}

// Limits -----------------------------------------------------------------------------------------

/// A server that answers when it is told to.
class HeldServer {
 public:
  HeldServer()
      : server_([this](Client& peer) {
          read_head(peer);
          asked_.set_value();
          answer_.get_future().wait();
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst");
          read_head(peer);
          peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond");
          peer.rest();
        }) {}
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  void wait_for_a_request() { asked_.get_future().wait(); }
  void answer() { answer_.set_value(); }

 private:
  std::promise<void> asked_;
  std::promise<void> answer_;
  ScriptedServer server_;
};

TEST_P(Upstreams, RequestsWaitForATargetThatIsBusy) {
  HeldServer server;
  Gateway gateway(GetParam());
  gateway.add(server);
  gateway.options.limits.target_requests = 1;
  gateway.options.limits.queued_requests = 1;
  gateway.options.limits.queue_time = 1min;
  gateway.options.limits.retry_after = 7s;
  Client first = gateway.connect();
  first.send(gets);
  server.wait_for_a_request();
  Client second = gateway.connect();
  second.send(gets);
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 1; });
  const std::optional<Answer> third = gateway.ask(gets);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 503);
  EXPECT_EQ(third->field("Retry-After"), "7");
  EXPECT_EQ(third->body.find("shop"), std::string::npos);
  EXPECT_EQ(gateway.refused("queue_full"), 1);
  EXPECT_NE(gateway.log().find("GET /api/x: upstream shop: its servers are busy, and the queue is "
                               "full"),
            std::string::npos)
      << gateway.log();
  server.answer();
  EXPECT_EQ(first.answer()->body, "first");
  EXPECT_EQ(second.answer()->body, "second");
  EXPECT_EQ(gateway.of_group("skua_upstream_queued_total"), 1);
}

// It was refused by the server that is free.
TEST_P(Upstreams, ARetryThatWaitsKeepsNobodyFromFreeServers) {
  HeldServer busy;
  const auto answer = [](Client& peer) {
    read_head(peer);
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx");
  };
  ScriptedServer free({[](Client& peer) { read_head(peer); }, answer, answer});
  Gateway gateway(GetParam());
  gateway.add(busy);
  gateway.add(free);
  gateway.options.limits.target_requests = 1;
  gateway.options.limits.queue_time = 1min;
  Client first = gateway.connect();
  first.send(gets);
  busy.wait_for_a_request();
  Client second = gateway.connect();
  second.send(gets);
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 1; });
  EXPECT_EQ(gateway.body_of(gets), "x");
  EXPECT_EQ(gateway.body_of(gets), "x");
  busy.answer();
  EXPECT_EQ(first.answer()->body, "first");
  EXPECT_EQ(second.answer()->body, "second");
}

TEST_P(Upstreams, ARetryThatFindsNoPlaceCostsNothing) {
  HeldServer busy;
  const auto close = [](Client& peer) { read_head(peer); };
  ScriptedServer broken({close, close, close, close});
  Gateway gateway(GetParam());
  gateway.add(busy);
  gateway.add(broken);
  gateway.options.limits.target_requests = 1;
  gateway.options.limits.queued_requests = 0;
  gateway.options.retries = {.budget = 0, .burst = 1};
  Client first = gateway.connect();
  first.send(gets);
  busy.wait_for_a_request();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(gateway.status_of(gets), 503);
  EXPECT_EQ(gateway.of_group("skua_upstream_retries_refused_total"), 0);
  busy.answer();
  EXPECT_EQ(first.answer()->body, "first");
}

TEST_P(Upstreams, RequestsWaitOnOtherThreads) {
  HeldServer server;
  Gateway gateway(GetParam());
  gateway.add(server);
  gateway.server_options.threads = 4;
  gateway.options.limits.group_requests = 1;
  gateway.options.limits.queue_time = 1min;
  Client first = gateway.connect();
  first.send(gets);
  server.wait_for_a_request();
  // Most of them are on threads without a connection to the server, which accepts only one.
  std::vector<std::unique_ptr<Client>> others;
  for (int i = 0; i < 8; ++i) {
    others.push_back(std::make_unique<Client>(gateway.connect()));
    others.back()->send(gets);
  }
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 8; });
  for (const std::unique_ptr<Client>& other : others) other->reset();
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 0; });
  server.answer();
  EXPECT_EQ(first.answer()->body, "first");
  wait_until([&gateway] { return gateway.upstream().targets()[0].outstanding == 0; });
}

TEST_P(Upstreams, WaitingHasALimit) {
  HeldServer server;
  Gateway gateway(GetParam());
  gateway.add(server);
  gateway.options.limits.target_requests = 1;
  gateway.options.limits.queue_time = 1ms;
  Client first = gateway.connect();
  first.send(gets);
  server.wait_for_a_request();
  const std::optional<Answer> second = gateway.ask(gets);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->status, 503);
  EXPECT_EQ(second->field("Retry-After"), "1");
  EXPECT_EQ(gateway.refused("queue_timeout"), 1);
  server.answer();
  EXPECT_EQ(first.answer()->body, "first");
}

TEST_P(Upstreams, ARequestThatWaitsMayLeave) {
  HeldServer server;
  Gateway gateway(GetParam());
  gateway.add(server);
  gateway.options.limits.target_requests = 1;
  gateway.options.limits.queue_time = 1min;
  Client first = gateway.connect();
  first.send(gets);
  server.wait_for_a_request();
  Client second = gateway.connect();
  second.send(gets);
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 1; });
  second.reset();
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 0; });
  Client third = gateway.connect();
  third.send(gets);
  wait_until([&gateway] { return gateway.of_group("skua_upstream_queue_length") == 1; });
  server.answer();
  EXPECT_EQ(first.answer()->body, "first");
  EXPECT_EQ(third.answer()->body, "second");
}

// Mirrors ----------------------------------------------------------------------------------------

TEST_P(Upstreams, AMirrorGetsCopies) {
  const NamedServer a("a");
  std::promise<std::string> copied;
  Router router;
  router.post("/api/x", [&copied](const Request& request) {
    copied.set_value(std::string(request.header("X-Test").value_or("")) + " " +
                     std::string(request.body()));
    return Status::InternalServerError;
  });
  TestServer mirror(router, BackendChoice::Auto, {}, Transport::Tcp);
  gateway_.add(a);
  gateway_.options.mirror.to =
      Upstream({.name = "mirror",
                .targets = {{.url = "http://127.0.0.1:" + std::to_string(mirror.port())}}});
  EXPECT_EQ(gateway_.body_of("POST /api/x HTTP/1.1\r\nHost: a\r\nX-Test: 1\r\n"
                             "Content-Length: 5\r\n\r\nhello"),
            "a");
  EXPECT_EQ(copied.get_future().get(), "1 hello");
  EXPECT_EQ(gateway_.of_group("skua_upstream_mirrored_total"), 1);
}

TEST_P(Upstreams, AMirrorThatHangsDelaysNobody) {
  const NamedServer a("a");
  const ScriptedServer mirror([](Client& peer) { peer.rest(); });
  Gateway gateway(GetParam());
  gateway.add(a);
  gateway.options.mirror.to =
      Upstream({.name = "mirror",
                .targets = {{.url = "http://127.0.0.1:" + std::to_string(mirror.port())}}});
  gateway.options.mirror.requests = 1;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(gateway.body_of(gets), "a");
  EXPECT_EQ(gateway.of_group("skua_upstream_mirrored_total"), 1);
  EXPECT_EQ(gateway.of_group("skua_upstream_mirror_dropped_total"), 9);
}

TEST_P(Upstreams, NoShareIsNotMirrored) {
  const NamedServer a("a");
  const NamedServer b("b");
  gateway_.add(a);
  const Upstream mirror(
      {.name = "mirror", .targets = {{.url = "http://127.0.0.1:" + std::to_string(b.port())}}});
  gateway_.options.mirror = {.to = mirror, .share = 0};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(gateway_.body_of(gets), "a");
  EXPECT_EQ(mirror.targets()[0].requests, 0U);
}

// Checks -----------------------------------------------------------------------------------------

TEST_P(Upstreams, OneThreadChecks) {
  std::atomic<int> checks{0};
  Router router;
  router.get("/livez", [&checks] {
    ++checks;
    return "ok";
  });
  router.get("/api/x", [] { return "x"; });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  gateway_.add(server);
  gateway_.server_options.threads = 4;
  gateway_.options.health = {.path = "/livez", .interval = 1h};
  for (int i = 0; i < 30; ++i) EXPECT_EQ(gateway_.body_of(gets), "x");
  wait_until([&] {
    return gateway_.metric("skua_upstream_checks_total{upstream=\"shop\",target=\"" +
                           gateway_.name_of(0) + "\",result=\"passed\"}") == 1;
  });
  EXPECT_EQ(checks, 1);
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, Upstreams, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

// Options ----------------------------------------------------------------------------------------

TEST(Upstream, IsAHandle) {
  const Upstream upstream({.name = "shop", .targets = {{.url = "http://a"}, {.url = "unix:/b"}}});
  const Upstream copy = upstream;
  EXPECT_EQ(copy.name(), "shop");
  const std::vector<UpstreamTargetStatus> targets = copy.targets();
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].name, "a:80");
  EXPECT_EQ(targets[1].name, "unix:/b");
  EXPECT_EQ(targets[0].state, UpstreamTargetStatus::State::Up);
}

TEST(Upstream, RefusesOptionsThatCannotBeMeant) {
  EXPECT_THROW(Upstream{UpstreamOptions{}}, std::invalid_argument);
  EXPECT_THROW(Upstream({.targets = {{.url = "ftp://a"}}}), std::invalid_argument);
}

TEST(Upstream, AMirrorHasTheSamePath) {
  UpstreamOptions options{.targets = {{.url = "http://a/v1"}}};
  options.mirror.to = Upstream({.targets = {{.url = "http://b/v2"}}});
  EXPECT_THROW(ReverseProxy{Upstream(options)}, std::invalid_argument);
}

TEST(Upstream, MetricsOfSeveralShareTheirFamilies) {
  Metrics metrics;
  collect_upstreams(metrics, {Upstream({.name = "a", .targets = {{.url = "http://a"}}}),
                              Upstream({.name = "b", .targets = {{.url = "http://b"}}})});
  const std::string text = metrics.text();
  EXPECT_NE(text.find("skua_upstream_target_state{upstream=\"a\",target=\"a:80\",state=\"up\"} 1"),
            std::string::npos);
  EXPECT_NE(
      text.find("skua_upstream_target_state{upstream=\"b\",target=\"b:80\",state=\"down\"} 0"),
      std::string::npos);
  const std::size_t family = text.find("# TYPE skua_upstream_queue_length gauge");
  ASSERT_NE(family, std::string::npos);
  EXPECT_EQ(text.find("# TYPE skua_upstream_queue_length", family + 1), std::string::npos);
}

}  // namespace
}  // namespace skua
