// SPDX-License-Identifier: MIT
// A group of servers that are checked: who is left out, for how long, and what a check asks.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/upstream_fixture.hpp"
#include "support/descriptors.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::get;
using testing::read_head;
using testing::ScriptedServer;
using testing::TestServer;
using testing::Transport;

/// A proxy whose time a test moves.
class CheckedUpstream : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void start() {
    upstream_ = std::make_unique<Upstream>(options_);
    collect_upstreams(metrics_, {*upstream_});
    router_.any("/{path...}", ReverseProxy(*upstream_, proxy_options_));
    worker_ = std::make_unique<testing::TestWorker>(router_, GetParam());
    client_ = std::make_unique<Client>(worker_->connect());
  }
  std::string ask() { return worker_->ask(*client_, get("/api/x"))->body; }
  // Lets time pass until the next target was checked; they are checked in turn.
  void check_next() {
    const int before = check_count();
    worker_->advance(options_.health.interval + options_.health.interval / 10);
    worker_->turn_until([&] { return check_count() == before + 1; });
  }
  // Returns how many checks have ended.
  int check_count() const {
    int sum = 0;
    std::string text = metrics_.text();
    constexpr std::string_view sample = "\nskua_upstream_checks_total{";
    for (std::size_t at = 0; (at = text.find(sample, at)) != text.npos; ++at) {
      sum += std::stoi(text.substr(text.find("} ", at) + 2));
    }
    return sum;
  }

  UpstreamOptions options_;
  ReverseProxyOptions proxy_options_;
  Metrics metrics_;
  Router router_;
  std::unique_ptr<Upstream> upstream_;
  std::unique_ptr<testing::TestWorker> worker_;
  std::unique_ptr<Client> client_;
};

TEST_P(CheckedUpstream, AServerThatFailsItsChecksIsNotAskedUntilItPassesThem) {
  std::atomic<bool> is_well{true};
  Router sick_router;
  sick_router.get("/livez", [&](const Request& request) {
    EXPECT_EQ(request.header("User-Agent"), "skua-health-check");
    return is_well ? Status::Ok : Status::ServiceUnavailable;
  });
  sick_router.get("/api/x", [] { return "sick"; });
  Router well_router;
  well_router.get("/livez", [] { return "ok"; });
  well_router.get("/api/x", [] { return "well"; });
  TestServer sick(sick_router, BackendChoice::Auto, {}, Transport::Tcp);
  TestServer well(well_router, BackendChoice::Auto, {}, Transport::Tcp);
  options_.balance.by = Balance::RoundRobin;
  options_.health = {.path = "/livez", .rise = 1, .fall = 1};
  for (const TestServer* const server : {&sick, &well}) {
    options_.targets.push_back({.url = "http://127.0.0.1:" + std::to_string(server->port())});
  }
  start();
  EXPECT_EQ(ask(), "sick");
  EXPECT_EQ(ask(), "well");
  worker_->turn_until([this] { return check_count() == 2; });
  is_well = false;
  check_next();
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Down);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask(), "well");
  is_well = true;
  check_next();
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Down);
  check_next();
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Up);
  std::set<std::string> used;
  for (int i = 0; i < 4; ++i) used.insert(ask());
  EXPECT_EQ(used, (std::set<std::string>{"sick", "well"}));
}

// It would otherwise refuse all requests, those that need no new connection included.
TEST_P(CheckedUpstream, AGatewayWithoutDescriptorsKeepsItsServers) {
  Router router;
  router.get("/livez", [] { return "ok"; });
  router.get("/api/x", [] { return "x"; });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  options_.health = {.path = "/livez", .rise = 1, .fall = 1};
  options_.targets = {{.url = "http://127.0.0.1:" + std::to_string(server.port())}};
  std::string log;
  options_.log = [&log](LogLevel /*level*/, std::string_view line) { log.append(line); };
  start();
  EXPECT_EQ(ask(), "x");
  worker_->turn_until([this] { return check_count() == 1; });
  {
    const support::OpenFilesLimit limited(8);  // the sockets of the servers have these
    for (int i = 0; i < 3; ++i) {
      worker_->advance(options_.health.interval + options_.health.interval / 10);
      worker_->settle();
    }
    EXPECT_NE(log.find("cannot be checked"), log.npos) << log;
    EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Up) << log;
  }
  check_next();
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Up);
  EXPECT_EQ(log.find("cannot be checked"), log.rfind("cannot be checked"));
}

TEST_P(CheckedUpstream, ChecksBeginWithAProxyHeaderAsRequestsDo) {
  proxy_options_.proxy_protocol = ProxyProtocol::V1;
  std::promise<std::string> checked;
  const auto answer = [&checked](Client& peer) {
    const std::string head = read_head(peer);
    if (head.find("/livez") != head.npos) checked.set_value(head);
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  };
  ScriptedServer server({answer, answer});
  options_.health = {.path = "/livez"};
  options_.targets = {{.url = "http://127.0.0.1:" + std::to_string(server.port())}};
  start();
  EXPECT_EQ(ask(), "ok");
  std::future<std::string> head = checked.get_future();
  worker_->turn_until([&head] { return head.wait_for(0s) == std::future_status::ready; });
  EXPECT_TRUE(head.get().starts_with("PROXY UNKNOWN\r\nGET /livez HTTP/1.1\r\n"));
}

TEST_P(CheckedUpstream, ChecksMayAskAnotherPortInAnotherWay) {
  std::atomic<bool> is_well{true};
  std::atomic<int> asked{0};
  Router router;
  router.get("/api/x", [] { return "x"; });
  Router admin_router;
  admin_router.any("/readyz", [&](const Request& request) -> Response {
    if (request.method_name() == "CHECK" && request.host() == "ready.example") ++asked;
    return is_well ? "all is well" : "not yet";
  });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  TestServer admin(admin_router, BackendChoice::Auto, {}, Transport::Tcp);
  options_.health = {.path = "/readyz",
                     .rise = 1,
                     .fall = 1,
                     .port = admin.port(),
                     .method = "CHECK",
                     .host = "ready.example",
                     .content = "is well"};
  options_.targets.push_back({.url = "http://127.0.0.1:" + std::to_string(server.port())});
  start();
  EXPECT_EQ(ask(), "x");
  worker_->turn_until([this] { return check_count() == 1; });
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Up);
  is_well = false;
  check_next();
  EXPECT_EQ(upstream_->targets()[0].state, UpstreamTargetStatus::State::Down);
  EXPECT_EQ(asked, 2);
}

TEST(UpstreamHealth, OptionsThatCannotWorkAreRefused) {
  const std::vector<UpstreamHealth> wrong = {
      {.path = "/", .method = ""},        {.path = "/", .method = "A B"},
      {.path = "/", .method = "CONNECT"}, {.path = "/", .method = "HEAD", .content = "ok"},
      {.path = "/", .host = "a b"},
  };
  for (const UpstreamHealth& health : wrong) {
    EXPECT_THROW(Upstream({.targets = {{.url = "http://127.0.0.1:1"}}, .health = health}),
                 std::invalid_argument);
  }
}

// An ejection ends without a call.
TEST_P(CheckedUpstream, RequestsThatWaitGoOnWhenAnEjectionEnds) {
  std::promise<void> asked;
  const auto answer = [](Client& peer) {
    read_head(peer);
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
  };
  ScriptedServer sick({[](Client& peer) { read_head(peer); }, answer, answer});
  ScriptedServer busy([&asked](Client& peer) {
    read_head(peer);
    asked.set_value();
    peer.rest();
  });
  options_.balance.by = Balance::RoundRobin;
  options_.retries.attempts = 1;
  options_.ejection.failures = 1;
  options_.limits = {.target_requests = 1, .queue_time = 1h};
  for (const ScriptedServer* const server : {&sick, &busy}) {
    options_.targets.push_back({.url = "http://127.0.0.1:" + std::to_string(server->port())});
  }
  start();
  EXPECT_EQ(worker_->ask(*client_, get("/api/x"))->status, 502);
  client_->send(get("/api/x"));
  std::future<void> is_asked = asked.get_future();
  worker_->turn_until([&] { return is_asked.wait_for(0s) == std::future_status::ready; });
  Client first = worker_->connect();
  Client second = worker_->connect();
  first.send(get("/api/x"));
  second.send(get("/api/x"));
  const auto are_waiting = [this] {
    return metrics_.text().find("skua_upstream_queue_length{upstream=\"upstream\"} 2\n") !=
           std::string::npos;
  };
  worker_->turn_until(are_waiting);
  worker_->advance(options_.ejection.time);
  for (Client* const client : {&first, &second}) {
    worker_->turn_until_readable(*client);
    EXPECT_EQ(client->answer()->body, "ok");
  }
  worker_.reset();  // before the server that waits for its end
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, CheckedUpstream, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
