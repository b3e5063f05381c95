// SPDX-License-Identifier: MIT
// Callbacks that run for a request, a stream or a WebSocket, which throw: that ends what they
// belong to, and the server goes on.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crypto/digest.hpp"
#include "operations/callbacks.hpp"
#include "skua.hpp"
#include "support/memory_texts.hpp"
#include "support/temporary_directory.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::Callbacks;
using testing::TestServer;
using testing::Transport;
using testing::wait_until;

class HandlerCallbacks : public Callbacks {
 protected:
  using Setup = std::function<void(Router&)>;

  /// Runs a server with these routes, and with `/alive`, and asks for `/`. Returns its status, or
  /// `cut off`. The callback must have been called, and the server must go on.
  std::string ask_broken(const Setup& setup, const std::string& fields = {}) {
    Router router;
    setup(router);
    Router all;
    all.get("/alive", [] { return "hello"; });
    all.mount("/broken", std::move(router));
    const int before = calls_;
    TestServer server(all, BackendChoice::Auto, {.hooks = logging()});
    testing::Client client = server.connect();
    client.send("POST /broken/ HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n" + fields + "\r\n");
    const auto answer = client.answer();
    wait_until([&] { return calls_ > before; });
    EXPECT_EQ(ask(server.port(), "/alive"), "200");
    return answer ? std::to_string(answer->status) : "cut off";
  }
};

/// A store that lets every request through.
class OpenRates final : public SharedRates {
 public:
  Task<Result<RateDecision, Problem>> count(std::string, Rate) override {
    co_return RateDecision();
  }
};

// throws: idempotency.owner middleware.key auth.Check
TEST_P(HandlerCallbacks, OfMiddlewareThatWaitsFailTheirRequest) {
  const auto greet = [](Router& router) { router.post("/", [] { return "hello"; }); };
  const std::vector<std::pair<Setup, std::string>> all{
      {[&](Router& router) {
         router.use(idempotency_keys({.owner = [this](const Request&) -> std::string { fail(); }},
                                     std::make_shared<testing::MemoryTexts>()));
         greet(router);
       },
       "Idempotency-Key: \"a\"\r\n"},
      {[&](Router& router) {
         router.use(shared_rate_limit({.key = [this](const Request&) -> std::string { fail(); }},
                                      std::make_shared<OpenRates>()));
         greet(router);
       },
       ""},
      {[&](Router& router) {
         router.use(auth::basic("x", [this](std::string_view, std::string_view) -> Task<bool> {
           fail();
           co_return true;
         }));
         greet(router);
       },
       "Authorization: Basic YTpi\r\n"},
      {[&](Router& router) {
         router.use(auth::bearer([this](std::string_view) -> Task<auth::TokenVerdict> {
           fail();
           co_return true;
         }));
         greet(router);
       },
       "Authorization: Bearer abc\r\n"},
  };
  for (const auto& [setup, fields] : all) EXPECT_EQ(ask_broken(setup, fields), "500") << fields;
}

// throws: auth.lookup auth.find_user
TEST_P(HandlerCallbacks, OfDigestLetNobodyIn) {
  if (!crypto::is_available()) GTEST_SKIP() << "built without OpenSSL";
  for (const bool is_hashed : {false, true}) {
    auth::DigestOptions options{.realm = "r"};
    options.lookup = [this](std::string_view) -> std::optional<auth::DigestSecret> { fail(); };
    if (is_hashed) {
      options.find_user = [this](auto, std::string_view) -> std::optional<std::string> { fail(); };
    }
    Router router;
    router.use(auth::digest(options));
    router.get("/", [] { return "hello"; });
    TestServer server(router, BackendChoice::Auto, {.hooks = logging()});
    testing::Client client = server.connect();
    client.send(testing::get("/"));
    const std::string challenge = client.answer()->field("WWW-Authenticate").value_or("");
    DigestSession session("ada", "secret");
    const std::string_view fields[] = {challenge};
    session.accept(fields).value();
    const int before = calls_;
    client.send(
        testing::get("/", "Authorization: " + session.authorize("GET", "/").value() + "\r\n"));
    EXPECT_EQ(client.answer()->status, 500);
    EXPECT_EQ(calls_, before + 1);
  }
}

// throws: response.stream events.server_sent_events
TEST_P(HandlerCallbacks, OfStreamsCutThem) {
  Lane lane;
  const auto produce = [this](auto&) -> Task<> {
    fail();
    co_return;
  };
  for (const Setup& setup : std::vector<Setup>{
           [&](Router& router) {
             router.post("/", [&] { return Response::stream("text/plain", produce); });
           },
           [&](Router& router) { router.post("/", [&] { return server_sent_events(produce); }); },
       }) {
    EXPECT_EQ(ask_broken(setup), "cut off");
  }
  const Setup offloaded = [&](Router& router) {
    router.post("/", [&](Request&) -> Task<std::string> {
      const auto call = [this]() -> std::string { fail(); };
      std::string text = co_await offload(lane, call);
      co_return text;
    });
  };
  EXPECT_EQ(ask_broken(offloaded), "500");
}

// throws: reverse_proxy.on_request reverse_proxy.on_response upstream.log
TEST_P(HandlerCallbacks, OfGatewaysFailTheirRequest) {
  Router behind;
  behind.any("/{path...}", [](std::string_view) { return "hello"; });
  TestServer upstream(behind, BackendChoice::Auto, {}, Transport::Tcp);
  const std::string url = "http://127.0.0.1:" + std::to_string(upstream.port());
  ReverseProxyOptions asking;
  asking.on_request = [this](const Request&, UpstreamRequest&) -> std::optional<Response> {
    fail();
  };
  ReverseProxyOptions answering;
  answering.on_response = [this](const Request&, Response&) { fail(); };
  for (const ReverseProxyOptions& options : {asking, answering}) {
    const Setup setup = [&](Router& router) {
      router.any("/{path...}", ReverseProxy(url, options));
    };
    EXPECT_EQ(ask_broken(setup), "500");
  }
  UpstreamOptions group{.name = "gone"};
  group.targets = {{.url = "unix:/nowhere/at/all"}};
  group.ejection.failures = 1;
  group.ejection.max_share = 1;
  group.log = [this](LogLevel, std::string_view) { fail(); };
  const Upstream gone(group);
  const Setup setup = [&](Router& router) { router.any("/{path...}", ReverseProxy(gone)); };
  EXPECT_EQ(ask_broken(setup), "502");
}

// throws: topics.on_problem topics.Format
TEST_P(HandlerCallbacks, OfTopicsLoseTheirMessageOnly) {
  Topics topics({.message_bytes = 10, .on_problem = [this](const Problem&) { fail(); }});
  topics.post("news", "eleven bytes");
  EXPECT_EQ(calls_, 1);
  topics.post("news", "short");
  EXPECT_EQ(topics.counters().unpublished, 1U);
  std::atomic<bool> has_thrown{false};
  Router router;
  router.websocket("/", [&](WebSocket& socket) -> Task<> {
    const auto format = [this](const TopicMessage&) -> std::string { fail(); };
    const TopicStart start{};
    try {
      co_await topics.forward(socket, "news", start, format);
    } catch (...) {
      has_thrown = true;
    }
  });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  const auto listen = [&]() -> Task<> {
    Client client;
    auto socket = co_await client.websocket("ws://127.0.0.1:" + std::to_string(server.port()));
    if (!socket) throw std::runtime_error(socket.error().text);
    while (co_await socket->receive()) continue;
  };
  run(listen());
  EXPECT_TRUE(has_thrown);
}

// throws: websocket.open websocket.message websocket.drain websocket.close
TEST_P(HandlerCallbacks, OfWebSocketsCloseThem) {
  const auto broken = [this](WebSocket&) { fail(); };
  const std::vector<WebSocketCallbacks> all{
      {.open = [this](WebSocket&, Request&) { fail(); }},
      {.message = [this](WebSocket&, Message) { fail(); }},
      {.open =
           [](WebSocket& socket, Request&) {
             // Short ones wait for the end of the turn, so that the queue is full.
             for (int i = 0; i < 20; ++i) socket.send(std::string(10'000, 'x'));
           },
       .drain = broken},
      {.message = [](WebSocket& socket, Message) { socket.close(CloseCode::InternalError); },
       .close = [this](WebSocket&, const CloseReason&) { fail(); }},
  };
  const auto talk = [](std::string url) -> Task<CloseReason> {
    Client client;
    auto socket = co_await client.websocket(url);
    if (!socket) throw std::runtime_error(socket.error().text);
    socket->send("hello");
    while (co_await socket->receive()) continue;
    co_return socket->close_reason();
  };
  int expected = 0;
  for (const WebSocketCallbacks& callbacks : all) {
    Router router;
    router.websocket("/", callbacks);
    router.get("/alive", [] { return "hello"; });
    TestServer server(router, BackendChoice::Auto, {.hooks = logging()}, Transport::Tcp);
    const std::string port = std::to_string(server.port());
    EXPECT_EQ(run(talk("ws://127.0.0.1:" + port + "/")).code, CloseCode::InternalError)
        << &callbacks - all.data();
    ++expected;
    wait_until([&] { return calls_ == expected; });
    EXPECT_EQ(blocking::get("http://127.0.0.1:" + port + "/alive").value(), "hello");
  }
}

// throws: file_options.render_readme
TEST_P(HandlerCallbacks, OfFoldersFailTheirRequest) {
  const skua::support::TemporaryDirectory tree;
  tree.write("README.md", "text");
  FileOptions options{.listing = true};
  options.render_readme = [this](std::string_view, std::string_view) -> std::string { fail(); };
  Router router;
  router.files("/files", tree.string(), options);
  router.get("/alive", [] { return "hello"; });
  TestServer server(router, BackendChoice::Auto, {.hooks = logging()});
  EXPECT_EQ(ask(server.port(), "/files/"), "500");
  EXPECT_EQ(ask(server.port(), "/alive"), "200");
  EXPECT_EQ(calls_, 1);
}

INSTANTIATE_TEST_SUITE_P(All, HandlerCallbacks, testing::all_thrown, testing::name_of);

}  // namespace
}  // namespace skua
