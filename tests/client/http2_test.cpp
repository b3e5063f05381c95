// SPDX-License-Identifier: MIT
// A client's HTTP/2 connection, against skua's own server over TCP and against misbehaving peers.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/connect/connector.hpp"
#include "client/waiting.hpp"
#include "client/wire/h2_connection.hpp"
#include "skua.hpp"
#include "support/h2_frames.hpp"
#include "support/run_on.hpp"
#include "support/scripted_server.hpp"
#include "support/test_server.hpp"

namespace skua::client {
namespace {

namespace frames = h2::frames;
using Event = h1::ResponseEvent;

/// A pool whose connections speak HTTP/2 to one port.
struct Side {
  Side(loop::Loop& its_loop, std::uint16_t its_port)
      : loop(its_loop),
        port(its_port),
        resolver(loop, {}),
        connector(loop, resolver),
        pool(loop, PoolLimits{.per_host = 1}) {}

  Task<Result<std::unique_ptr<PooledConnection>, Problem>> connect() {
    Origin origin;
    origin.host = "127.0.0.1";
    origin.port = port;
    ConnectOptions options;
    auto stream = co_await connector.connect(origin, options);
    if (!stream) co_return stream.error();
    std::unique_ptr<PooledConnection> made =
        std::make_unique<H2Connection>(nullptr, loop, pool, blocks, heads, *std::move(stream),
                                       h1::ResponseLimits{}, ClientLimits().stream_bytes);
    co_return made;
  }

  loop::Loop& loop;
  std::uint16_t port;
  Resolver resolver;
  Connector connector;
  net::OutputQueue::Blocks blocks{64};
  HeadBudget heads{1 << 20, 1 << 20};
  Pool pool;
};

/// How to make a request and read its response.
struct Plan {
  Method method = Method::Get;
  std::string target = "/";
  std::function<Task<>(BodyWriter&)> produce{};
  Duration pause{};            // before each piece of the content
  std::size_t max_pieces = 0;  // reading stops after this many; 0: reads all
};

Task<std::string> fetch(Side& side, Plan plan) {
  const Pool::Connect connect = [&side] { return side.connect(); };
  Result<Pool::Lease, Problem> got = co_await side.pool.acquire("key", "the test", 20s, connect);
  if (!got) co_return "problem: " + got.error().text;
  const Pool::Lease lease = *std::move(got);
  const Url url = *Url::parse("http://127.0.0.1:" + std::to_string(side.port) + plan.target);
  const FieldLines fields{};
  OutgoingRequest request{.method = plan.method, .url = url, .fields = fields};
  if (plan.produce) {
    auto stream = std::make_shared<BodyStream>();
    stream->produce = plan.produce;
    request.content = Body(std::shared_ptr<const BodyStream>(std::move(stream)));
  }
  auto begun = static_cast<HttpConnection&>(lease.connection()).begin(request);
  if (!begun) co_return "error: " + begun.error().message();
  const ExchangePointer exchange = *std::move(begun);
  std::string text;
  for (std::size_t pieces = 0; plan.max_pieces == 0 || pieces < plan.max_pieces;) {
    const Result<Exchange::Step> step = exchange->read();
    if (!step) co_return text + "error: " + step.error().message();
    if (step->event == Event::Complete) co_return text;
    if (step->event == Event::Head) text += std::to_string(exchange->head().status) + " ";
    if (step->event == Event::Data) {
      text.append(step->data);
      ++pieces;
      if (plan.pause != Duration(0)) co_await sleep(plan.pause);
    }
    if (step->event != Event::NeedMore) continue;
    if (side.loop.now() - exchange->progress() > 20s) co_return text + "error: it hangs";
    co_await TimedWait(side.loop, exchange->changed(), 5s);
  }
  co_return text + "broken off";
}

class ClientHttp2 : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void SetUp() override {
    router_.get("/", [] { return "hello"; });
    router_.get("/number/{n}", [](int n) { return std::to_string(n); });
    router_.post("/echo", [](const Request& request) { return std::string(request.body()); });
    router_.post("/count", [](Request& request) -> Task<std::string> {
      std::size_t count = 0;
      while (auto piece = co_await request.read()) count += piece->size();
      co_return std::to_string(count);
    });
    router_.get("/large", [] {
      return Response::stream("text/plain", [](BodyWriter& out) -> Task<> {
        for (int i = 0; i < 200; ++i) co_await out.write(std::string(50'000, 'x'));
      });
    });
    router_.get("/endless", [this] {
      return Response::stream("text/plain", [this](BodyWriter& out) -> Task<> {
        const auto held = std::shared_ptr<void>(this, [this](void*) { --alive_; });
        ++alive_;
        while (true) co_await out.write(std::string(10'000, 'e'));
      });
    });
  }
  static BackendChoice backend() { return GetParam(); }
  /// The outcomes of all plans, run concurrently.
  std::vector<std::string> run(std::vector<Plan> plans, std::uint16_t port = 0) {
    if (port == 0) {
      if (server_ == nullptr) {
        server_ = std::make_unique<testing::TestServer>(router_, BackendChoice::Auto, options_,
                                                        testing::Transport::Tcp);
      }
      port = server_->port();
    }
    return testing::run_on(backend(), run_all(std::move(plans), port));
  }
  static Task<std::vector<std::string>> run_all(std::vector<Plan> plans, std::uint16_t port) {
    Side side(loop::Loop::current(), port);
    std::vector<Task<std::string>> tasks;
    for (Plan& plan : plans) tasks.push_back(fetch(side, std::move(plan)));
    std::vector<std::string> outcomes = co_await when_all(std::move(tasks));
    side.pool.close_all();
    co_await side.pool.closed();
    co_return outcomes;
  }

  std::atomic<int> alive_{0};
  Router router_;
  ServerOptions options_;
  std::unique_ptr<testing::TestServer> server_;
};

TEST_P(ClientHttp2, ManyRequestsGoSideBySide) {
  options_.limits.http2_streams = 10;
  std::vector<Plan> plans;
  for (int i = 0; i < 200; ++i) {
    Plan plan;
    plan.target = "/number/" + std::to_string(i);
    plans.push_back(std::move(plan));
  }
  const auto outcomes = run(std::move(plans));
  ASSERT_EQ(outcomes.size(), 200U);
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    // Requests sent before the server's SETTINGS arrived may exceed its limit.
    const std::string& outcome = outcomes[static_cast<std::size_t>(i)];
    if (outcome == "error: REFUSED_STREAM: the peer reset the connection" ||
        outcome == "error: HTTP/2: the connection is closed") {
      ++refused;
    } else {
      EXPECT_EQ(outcome, "200 " + std::to_string(i));
    }
  }
  EXPECT_LE(refused, 100);
  EXPECT_EQ((**server_).counters().connections_accepted, 1U);
}

TEST_P(ClientHttp2, ContentGoesBothWays) {
  Plan upload;
  upload.method = Method::Post;
  upload.target = "/count";
  upload.produce = [](BodyWriter& out) -> Task<> {
    for (int i = 0; i < 100; ++i) co_await out.write(std::string(50'000, 'x'));
  };
  Plan echo;
  echo.method = Method::Post;
  echo.target = "/echo";
  echo.produce = [](BodyWriter& out) -> Task<> { co_await out.write("echo"); };
  Plan download;
  download.target = "/large";
  Plan missing;
  missing.target = "/missing";
  Plan head;
  head.method = Method::Head;
  const auto outcomes = run({upload, echo, download, missing, head});
  EXPECT_EQ(outcomes[0], "200 5000000");
  EXPECT_EQ(outcomes[1], "200 echo");
  EXPECT_EQ(outcomes[2].size(), 4U + 10'000'000U);
  EXPECT_TRUE(outcomes[3].starts_with("404 "));
  EXPECT_EQ(outcomes[4], "200 ");
}

TEST_P(ClientHttp2, ASlowReaderHoldsNobodyUp) {
  Plan slow;
  slow.target = "/large";
  slow.pause = 1ms;
  Plan fast;
  fast.target = "/large";
  const auto outcomes = run({slow, fast, fast, Plan()});
  EXPECT_EQ(outcomes[0].size(), 4U + 10'000'000U);
  EXPECT_EQ(outcomes[1].size(), 4U + 10'000'000U);
  EXPECT_EQ(outcomes[3], "200 hello");
}

TEST_P(ClientHttp2, WhoIsNoLongerInterestedCancels) {
  Plan endless;
  endless.target = "/endless";
  endless.max_pieces = 3;
  const auto outcomes = run({endless, endless, Plan()});
  EXPECT_TRUE(outcomes[0].ends_with("broken off"));
  EXPECT_TRUE(outcomes[1].ends_with("broken off"));
  EXPECT_EQ(outcomes[2], "200 hello");
  (**server_).shutdown();
  EXPECT_EQ(alive_, 0);
}

std::string failed_with(const std::vector<std::string>& outcomes) {
  return outcomes.empty() ? std::string() : outcomes.front();
}

TEST_P(ClientHttp2, PeersThatSpeakAnotherProtocolAreToldApart) {
  testing::ScriptedServer http1([](testing::Client& peer) {
    peer.some();
    peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    peer.rest();
  });
  EXPECT_EQ(failed_with(run({Plan()}, http1.port())),
            "error: the server does not speak HTTP/2: the HTTP version is not supported");
}

TEST_P(ClientHttp2, AConnectionThatIsLostIsAnError) {
  testing::ScriptedServer closes([](testing::Client& peer) {
    peer.some();
    peer.send(frames::settings() + frames::headers(1, frames::field(":status", "200"), 4) +
              frames::data(1, "half"));
    peer.end();
    peer.rest();
  });
  EXPECT_EQ(failed_with(run({Plan()}, closes.port())),
            "200 halferror: HTTP/2: the connection is closed");
  testing::ScriptedServer resets([](testing::Client& peer) {
    peer.some();
    peer.reset();
  });
  EXPECT_TRUE(failed_with(run({Plan()}, resets.port())).starts_with("error: "));
}

TEST_P(ClientHttp2, AFloodEndsTheConnection) {
  testing::ScriptedServer floods([](testing::Client& peer) {
    peer.some();
    std::string many = frames::settings();
    for (int i = 0; i < 2000; ++i) many += frames::ping();
    peer.send(many);
    peer.rest();
  });
  EXPECT_EQ(failed_with(run({Plan()}, floods.port())),
            "error: too many PING frames: a frame is malformed");
}

TEST_P(ClientHttp2, ADrainingServerFinishesWhatHasBegun) {
  std::promise<void> begun;
  router_.get("/drain", [&begun](Request&) -> Task<std::string> {
    begun.set_value();
    co_await sleep(50ms);
    co_return "drained";
  });
  Plan plan;
  plan.target = "/drain";
  run({});  // starts the server
  std::thread drain([&] {
    begun.get_future().wait();
    (**server_).shutdown();
  });
  EXPECT_EQ(failed_with(run({plan})), "200 drained");
  drain.join();
}

INSTANTIATE_TEST_SUITE_P(Backends, ClientHttp2, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua::client
