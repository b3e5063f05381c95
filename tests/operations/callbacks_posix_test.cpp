// SPDX-License-Identifier: MIT
// Callbacks of servers and of what operators see of them, which throw.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operations/callbacks.hpp"
#include "skua.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::TestServer;
using testing::wait_until;

using testing::Callbacks;
using testing::Thrown;

// throws: options.on_response options.on_connection_open options.on_connection_close
// throws: server.on_each_thread
TEST_P(Callbacks, HooksOfServersGoToTheLog) {
  Router router;
  router.get("/", [] { return "hello"; });
  Hooks hooks = logging();
  hooks.on_response = [this](const RequestRecord&) { fail(); };
  hooks.on_connection_open = [this](std::string_view) { fail(); };
  hooks.on_connection_close = [this] { fail(); };
  TestServer server(router, BackendChoice::Auto, {.hooks = hooks});
  EXPECT_EQ(ask(server.port()), "200");
  EXPECT_EQ(server->on_each_thread([this] { fail(); }), 1U);
  wait_until([&] { return calls_ >= 4; });
  EXPECT_EQ(ask(server.port()), "200");
  server->shutdown();
  for (const char* const name :
       {"on_response", "on_connection_open", "on_connection_close", "on_each_thread"}) {
    const std::string line = "the callback " + std::string(name) + " failed: " + text() + "\n";
    EXPECT_NE(lines().find(line), std::string::npos) << line << lines();
  }
}

// throws: options.log options.accepts options.on_connection_refused
TEST_P(Callbacks, FiltersRefuseAndLogsAreDropped) {
  Router router;
  router.get("/", [this]() -> std::string { fail(); });
  ServerOptions options;
  options.hooks.log = [this](LogLevel level, std::string_view) {
    if (level >= LogLevel::Warning) fail();
  };
  TestServer server(router, BackendChoice::Auto, options);
  EXPECT_EQ(ask(server.port()), "500");
  EXPECT_EQ(calls_, 2);
  options.accepts = [this](const Address&) -> bool { fail(); };
  options.hooks.on_connection_refused = [this](std::string_view, ConnectionRefusal) { fail(); };
  TestServer refusing(router, BackendChoice::Auto, options);
  // The reset may come before or after the end of connect().
  static_cast<void>(
      TcpSocket::connect_to(Address::loopback(Address::Family::Ipv4, refusing.port())));
  wait_until([&] { return calls_ >= 4; });
}

// throws: server.before_threads
TEST_P(Callbacks, AStartEndsInAProblem) {
  const Router router;
  Server server(router, {.host = "127.0.0.1", .port = 0, .threads = 1});
  const auto started = server.start([this]() -> Result<void, Problem> { fail(); });
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().text, text());
  EXPECT_TRUE(server.start());
}

// throws: service.start_successor
TEST_P(Callbacks, AHandOverDoesNotHappen) {
  const Router router;
  TestServer server(router, BackendChoice::Auto);
  Service service({.start_successor = [this](const auto&) -> Result<int, Problem> { fail(); }});
  EXPECT_EQ(service.hand_over({*server}).error().text, text());
  EXPECT_TRUE(server->is_ready());
}

// throws: shutdown_signals.on_signal shutdown_signals.on_hangup
TEST_P(Callbacks, SignalsDrainAllTheSame) {
  const Router router;
  const ShutdownSignals signals;
  TestServer server(router, BackendChoice::Auto, {.hooks = logging()});
  auto ended = std::async(std::launch::async, [&] {
    signals.wait_and_drain({*server}, [this] { fail(); }, [this]() -> bool { fail(); });
  });
  ::kill(::getpid(), SIGHUP);
  wait_until([&] { return calls_ == 1; });
  EXPECT_TRUE(server->is_ready()) << "the program takes SIGHUP itself";
  ::kill(::getpid(), SIGTERM);
  ended.wait();
  EXPECT_EQ(calls_, 2);
  EXPECT_EQ(lines(), "the callback on_hangup failed: " + text() +
                         "\nthe callback on_signal failed: " + text() + "\n");
}

// throws: access_log.on_problem
TEST_P(Callbacks, LogsCountTheLinesThatAreLost) {
  auto log = AccessLog::open({.file = "/dev/full",
                              .reopens_on_signal = false,
                              .on_problem = [this](std::string_view) { fail(); }});
  if (!log) GTEST_SKIP() << "no /dev/full";
  (*log)->start();
  for (int i = 0; i < 3; ++i) (*log)->add({});
  wait_until([&] { return (*log)->lost_count() == 3; });
  (*log)->add({});
  wait_until([&] { return (*log)->lost_count() == 4; });
  EXPECT_GE(calls_, 1);
}

// throws: otlp.on_problem
TEST_P(Callbacks, ExportersCountALostBatchOnce) {
  const Router nothing;
  TestServer server(nothing, BackendChoice::Auto, {}, testing::Transport::Tcp);
  OtlpExporter exporter({.url = server->url() + "/v1/traces",
                         .interval = 1h,
                         .batch_spans = 2,
                         .on_problem = [this](std::string_view) { fail(); }});
  for (int i = 0; i < 2; ++i) exporter.add(span());
  wait_until([&] { return calls_ == 1; });
  for (int i = 0; i < 2; ++i) exporter.add(span());
  wait_until([&] { return exporter.lost_count() >= 4; });
  EXPECT_EQ(exporter.lost_count(), 4U);
}

// throws: tracing.sink
TEST_P(Callbacks, ASpanIsLostAndNotItsResponse) {
  Router router;
  router.use(tracing({.sink = [this](const Span&) { fail(); }}));
  router.get("/", [] { return "hello"; });
  TestServer server(router, BackendChoice::Auto);
  EXPECT_EQ(ask(server.port()), "200");
  EXPECT_EQ(calls_, 1);
}

// throws: health.Check metrics.collector
TEST_P(Callbacks, OperatorsSeeWhichFails) {
  Health health;
  health.check("disk", [this]() -> Result<void, Problem> { fail(); });
  const auto outcomes = health.run();
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_EQ(outcomes[0].problem, GetParam() == Thrown::Int ? "failed" : "it broke");
  Metrics metrics;
  metrics.collect([this](MetricsText&) { fail(); });
  EXPECT_ANY_THROW(static_cast<void>(metrics.text()));
}

// throws: health.Done
TEST_P(Callbacks, WithResultsOfChecksAreDropped) {
  std::promise<void> called;
  Health health;
  health.run([&](const std::vector<Health::Outcome>&) {
    called.set_value();
    fail();
  });
  called.get_future().wait();
  EXPECT_TRUE(health.run().empty());
}

// Each is asked while a request is handled, whose response is then 500.
// throws: middleware.allow_origin middleware.key auth.Check
TEST_P(Callbacks, OfMiddlewareFailTheirRequestOnly) {
  const std::vector<std::function<void(Router&)>> all{
      [&](Router& router) {
        router.use(cors({.allow_origin = [this](std::string_view) -> bool { fail(); }}));
      },
      [&](Router& router) {
        router.use(rate_limit({.key = [this](const Request&) -> std::string { fail(); }}));
      },
      [&](Router& router) {
        router.use(
            auth::basic("x", [this](std::string_view, std::string_view) -> bool { fail(); }));
      },
      [&](Router& router) {
        router.use(auth::bearer([this](std::string_view) -> auth::TokenVerdict { fail(); }));
      },
  };
  int expected = 0;
  for (const auto& use : all) {
    Router router;
    use(router);
    router.get("/", [] { return "hello"; });
    TestServer server(router, BackendChoice::Auto, {.hooks = logging()});
    for (const char* const credentials : {"Basic YTpi", "Bearer abc"}) {
      testing::Client client = server.connect();
      client.send("GET / HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\nAuthorization: " +
                  std::string(credentials) + "\r\n\r\n");
      const auto answer = client.answer();
      ASSERT_TRUE(answer);
      EXPECT_TRUE(answer->status == 500 || answer->status == 401) << answer->status;
    }
    EXPECT_GT(calls_, expected) << &use - all.data();
    expected = calls_;
  }
}

// throws: tcp_server.MakeTcpSession
TEST_P(Callbacks, OfTcpServersEndTheirClientOnly) {
  struct Broken {
    void on_readable(TcpConnection& client) const {
      client.send(client.input());
      fail();
    }
    void on_disconnect(TcpConnection&, Error) const { fail(); }
    std::function<void()> fail;
  };
  TcpServer<Broken> server({.host = "127.0.0.1", .log = logging().log},
                           [this](TcpConnection&) { return Broken{[this] { fail(); }}; });
  ASSERT_TRUE(server.listen());
  std::thread thread([&] { EXPECT_TRUE(server.run()); });
  for (int i = 0; i < 2; ++i) {
    testing::Client client(server.address().port(), testing::Transport::Tcp);
    client.send("x");
    client.rest();
  }
  server.request_stop();
  thread.join();
  EXPECT_EQ(calls_, 4);
  EXPECT_NE(lines().find("a callback of a client threw: "), std::string::npos);
}

// throws: service.log
TEST_P(Callbacks, AServiceGoesOnWithoutItsLog) {
  Service service({.hand_over = true,
                   .start_successor = [this](const auto&) -> Result<int, Problem> { fail(); },
                   .log = [this](LogLevel, std::string_view) { fail(); }});
  const ShutdownSignals signals;
  const Router router;
  TestServer server(router, BackendChoice::Auto);
  auto ended = std::async(std::launch::async, [&] { signals.wait_and_drain(*server, service); });
  ::kill(::getpid(), SIGUSR2);
  wait_until([&] { return calls_ == 2; });
  EXPECT_TRUE(server->is_ready());
  ::kill(::getpid(), SIGTERM);
  ended.wait();
}

// throws: loop.on_signal loop.on_readable
TEST_P(Callbacks, OfLoopsLeaveThem) {
  const auto loop = Loop::create().value();
  const auto leaves = [&] {
    for (int i = 0; i < 2000; ++i) {
      try {
        loop->poll(10ms);
      } catch (...) {
        return true;
      }
    }
    return false;
  };
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  {
    auto watch = DescriptorWatch::create(ends[0]).value();
    watch.on_readable([this] { fail(); });
    EXPECT_TRUE(leaves());
    auto signals = Signals::watch({SIGUSR1}).value();
    signals.on_signal([this](int) { fail(); });
    watch.on_readable({});
    ::kill(::getpid(), SIGUSR1);
    EXPECT_TRUE(leaves());
  }
  for (const int end : ends) ::close(end);
  EXPECT_EQ(calls_, 2);
}

// throws: file_options.on_replaced
TEST_P(Callbacks, AReplacedFolderIsServedAllTheSame) {
  const skua::support::TemporaryDirectory tree;
  tree.write("site/index.html", "old");
  Router router;
  FileOptions options{.check_interval = {}};
  options.on_replaced = [this](std::string_view) { fail(); };
  router.files("/files", (tree / "site").string(), options);
  TestServer server(router, BackendChoice::Auto);
  EXPECT_EQ(ask(server.port(), "/files/new"), "404");
  std::filesystem::rename(tree / "site", tree / "old");
  tree.write("site/new", "new");
  wait_until([&] { return ask(server.port(), "/files/new") == "200"; });
  EXPECT_EQ(calls_, 1);
}

INSTANTIATE_TEST_SUITE_P(All, Callbacks, testing::all_thrown, testing::name_of);

}  // namespace
}  // namespace skua
