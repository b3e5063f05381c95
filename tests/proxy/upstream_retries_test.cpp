// SPDX-License-Identifier: MIT
// A reverse proxy in front of a group of servers that fail: which requests are sent once more, and
// who is left out.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/listener.hpp"
#include "proxy/upstream_fixture.hpp"
#include "support/closed_port.hpp"

namespace skua {
namespace {

using testing::Client;
using testing::ClosedPort;
using testing::Gateway;
using testing::NamedServer;
using testing::read_head;
using testing::ScriptedServer;
using testing::TestServer;
using testing::Transport;

const std::string asks_for_x = testing::get("/api/x");

class UpstreamRetrying : public ::testing::TestWithParam<BackendChoice> {
 protected:
  Gateway gateway_{GetParam()};
};

TEST_P(UpstreamRetrying, AServerThatIsDeadIsNoLongerAsked) {
  const ClosedPort dead;
  const NamedServer b("b");
  gateway_.add(dead.number());
  gateway_.add(b);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(gateway_.body_of(asks_for_x), "b") << i;
  EXPECT_EQ(gateway_.requests(0, "connect_failed"), 5);
  EXPECT_EQ(gateway_.of_target("skua_upstream_ejections_total", 0), 1);
  EXPECT_EQ(gateway_.of_target("skua_upstream_retries_total", 0), 5);
  EXPECT_EQ(gateway_.upstream().targets()[0].state, UpstreamTargetStatus::State::Ejected);
  EXPECT_NE(gateway_.log().find("gets no requests for 10 s"), std::string::npos);
}

// The connection that was closed had served others, which says nothing; that no other can be made,
// does.
TEST_P(UpstreamRetrying, AServerThatHasGoneBehindAnIdleConnectionIsEjected) {
  Socket listener(*net::create_listener(*Address::parse("127.0.0.1:0")));
  gateway_.add(net::local_address(listener.descriptor()).port());
  std::thread server([&listener] {
    static_cast<void>(listener.wait_readable());
    Client peer(Socket(bsd::accept_one(listener.descriptor())), Transport::Tcp);
    listener = Socket();
    read_head(peer);
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na");
    read_head(peer);
  });
  const NamedServer b("b");
  gateway_.add(b);
  gateway_.options.ejection.failures = 1;
  for (const char* const body : {"a", "b", "b"}) EXPECT_EQ(gateway_.body_of(asks_for_x), body);
  server.join();
  EXPECT_EQ(gateway_.upstream().targets()[0].state, UpstreamTargetStatus::State::Ejected);
}

/// A server that is always busy.
class BusyServer {
 public:
  BusyServer() {
    router_.any("/api/x", [] { return Status::ServiceUnavailable; });
    server_ =
        std::make_unique<TestServer>(router_, BackendChoice::Auto, ServerOptions(), Transport::Tcp);
  }
  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

 private:
  Router router_;
  std::unique_ptr<TestServer> server_;
};

// A request that reached nobody adds no load, and may be repeated.
TEST_P(UpstreamRetrying, RetriesOfWhatReachedNobodyNeedNoBudget) {
  const ClosedPort a;
  const ClosedPort b;
  const ClosedPort c;
  const NamedServer d("d");
  for (const ClosedPort* const dead : {&a, &b, &c}) gateway_.add(dead->number());
  gateway_.add(d);
  gateway_.options.ejection.failures = 0;
  gateway_.options.retries.budget = 0;
  gateway_.options.retries.burst = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(gateway_.body_of(asks_for_x), "d") << i;
    EXPECT_EQ(gateway_.body_of("POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"),
              "d")
        << i;
  }
  EXPECT_EQ(gateway_.of_group("skua_upstream_retries_refused_total"), 0);
}

TEST_P(UpstreamRetrying, RetriesHaveABudget) {
  const BusyServer busy;
  const NamedServer b("b");
  gateway_.add(busy);
  gateway_.add(b);
  gateway_.options.ejection.failures = 0;
  gateway_.options.retries.budget = 0;
  gateway_.options.retries.burst = 3;
  std::map<int, int> statuses;
  for (int i = 0; i < 20; ++i) ++statuses[gateway_.status_of(asks_for_x)];
  EXPECT_EQ(statuses, (std::map<int, int>{{200, 13}, {503, 7}}));
  EXPECT_EQ(gateway_.of_group("skua_upstream_retries_refused_total"), 7);
}

TEST_P(UpstreamRetrying, AttemptsAreLimited) {
  const BusyServer a;
  const BusyServer b;
  const NamedServer c("c");
  gateway_.add(a);
  gateway_.add(b);
  gateway_.add(c);
  gateway_.options.retries.attempts = 2;
  EXPECT_EQ(gateway_.status_of(asks_for_x), 503);
  EXPECT_EQ(gateway_.upstream().targets()[2].requests, 0U);
}

TEST_P(UpstreamRetrying, AnAnswerIsBetterThanALastResort) {
  const BusyServer busy;
  const ClosedPort dead;
  gateway_.add(dead.number());
  gateway_.add(busy);
  gateway_.options.ejection.failures = 1;
  EXPECT_EQ(gateway_.status_of(asks_for_x), 503);  // asks the dead one first
  EXPECT_EQ(gateway_.upstream().targets()[0].state, UpstreamTargetStatus::State::Ejected);
  EXPECT_EQ(gateway_.status_of(asks_for_x), 503);
  EXPECT_EQ(gateway_.requests(0, "connect_failed"), 1);
}

// A server may close idle connections at any time, even when requests are on their way.
TEST_P(UpstreamRetrying, AConnectionThatWasIdleTellsNothingAboutItsServer) {
  constexpr int rounds = 8;
  const auto closes_the_second = [](Client& peer) {
    read_head(peer);
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    read_head(peer);
  };
  const ScriptedServer server(std::vector<std::function<void(Client&)>>(rounds, closes_the_second));
  const NamedServer b("b");
  gateway_.add(server);
  gateway_.add(b);
  gateway_.options.retries.attempts = 1;
  gateway_.options.ejection.failures = 2;
  const std::string posts = "POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";
  Client client = gateway_.connect();
  const auto ask = [&](const std::string& request) {
    client.send(request);
    return client.answer()->status;
  };
  for (int i = 0; i < rounds; ++i) {
    EXPECT_EQ(ask(asks_for_x), 200) << i;
    EXPECT_EQ(ask(asks_for_x), 200) << i;  // of the other
    EXPECT_EQ(ask(posts), 502) << i;       // it may have been processed
    EXPECT_EQ(ask(asks_for_x), 200) << i;  // of the other
  }
  EXPECT_EQ(gateway_.requests(0, "closed"), rounds);
  EXPECT_EQ(gateway_.upstream().targets()[0].state, UpstreamTargetStatus::State::Up);
}

INSTANTIATE_TEST_SUITE_P(EveryBackEnd, UpstreamRetrying, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
