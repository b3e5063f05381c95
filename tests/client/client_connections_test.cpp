// SPDX-License-Identifier: MIT
// A client's connections: how they are made, reused, and retried when they break.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "client_fixture.hpp"
#include "support/scripted_server.hpp"
#include "support/temporary_directory.hpp"

namespace skua {
namespace {

using Peer = testing::Client;

class ClientConnections : public ::testing::TestWithParam<BackendChoice> {
 protected:
  void run(Task<> task) { testing::run_on(GetParam(), std::move(task)); }
  static Task<std::string> text_of(ClientRequest request) {
    Result<std::string, Problem> text = co_await std::move(request).text();
    co_return text ? *text : text.error().text;
  }
};

constexpr std::string_view ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

Task<> twice(std::string url, Method method, std::vector<std::string>& texts) {
  ClientOptions options;
  options.timeouts.head = std::chrono::seconds(2);
  Client client(options);
  for (int i = 0; i < 2; ++i) {
    Result<std::string, Problem> text = co_await client.request(method, url).text();
    texts.push_back(text ? *text : text.error().text);
  }
}

/// The results of two requests to a server that answers the first, and closes the connection after
/// reading the second.
std::vector<std::string> dies_at_the_second(BackendChoice backend, Method method) {
  std::vector<std::string> texts;
  testing::ScriptedServer server([](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send(ok);
    static_cast<void>(peer.some());
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  testing::run_on(backend, twice(url, method, texts));
  return texts;
}

// The server handles one connection only, so the retry times out.
TEST_P(ClientConnections, AnIdempotentRequestIsTriedAgainWhereItsConnectionHasDied) {
  const std::vector<std::string> texts = dies_at_the_second(GetParam(), Method::Get);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], "ok");
  EXPECT_NE(texts[1].find("no response head within"), texts[1].npos) << texts[1];
}

TEST_P(ClientConnections, AnotherOneIsNot) {
  const std::vector<std::string> texts = dies_at_the_second(GetParam(), Method::Post);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0], "ok");
  EXPECT_NE(texts[1].find("closed the connection without an answer"), texts[1].npos) << texts[1];
}

TEST_P(ClientConnections, AServerThatStartsAgainIsSimplyConnectedTo) {
  Router router;
  router.get("/", [] { return "ok"; });
  std::optional<testing::TestServer> server;
  server.emplace(router, BackendChoice::Auto, ServerOptions{}, testing::Transport::Tcp);
  const std::uint16_t port = server->port();
  const auto restart = [&] {
    server.reset();
    ServerOptions options;
    options.host = "127.0.0.1";
    options.port = port;
    options.threads = 1;
    return options;
  };
  const auto body = [&](std::vector<std::string>& texts) -> Task<> {
    Client client;
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/";
    auto first = co_await text_of(client.get(url));
    texts.push_back(first);
    Server again(router, restart());
    EXPECT_TRUE(again.start());
    auto second = co_await text_of(client.get(url));
    texts.push_back(second);
  };
  std::vector<std::string> texts;
  run(body(texts));
  EXPECT_EQ(texts, (std::vector<std::string>{"ok", "ok"}));
}

// The loop learns of the end only when it looks. A Unix socket ends at once, without a network.
TEST_P(ClientConnections, WhatIsSentOnceIsNotSentToAServerThatHasGone) {
  const support::TemporaryDirectory folder;
  Router router;
  router.post("/", [] { return "ok"; });
  ServerOptions server_options;
  server_options.host = "unix:" + (folder / "s").string();
  server_options.threads = 1;
  std::optional<Server> server;
  server.emplace(router, server_options);
  ASSERT_TRUE(server->start());
  ClientOptions options;
  options.unix_socket = (folder / "s").string();
  std::vector<std::string> texts;
  const auto body = [&]() -> Task<> {
    Client client(options);
    for (int i = 0; i < 3; ++i) {
      const std::string text = co_await text_of(client.post("http://a/"));
      texts.push_back(text);
      server.reset();
      server.emplace(router, server_options);
      EXPECT_TRUE(server->start());
    }
  };
  run(body());
  EXPECT_EQ(texts, (std::vector<std::string>{"ok", "ok", "ok"}));
}

TEST_P(ClientConnections, AUnixSocketIsConnectedTo) {
  const support::TemporaryDirectory folder;
  Router router;
  router.get("/host", [](const Request& request) {
    return std::string(request.header("host").value_or(""));
  });
  ServerOptions server_options;
  server_options.host = "unix:" + (folder / "s").string();
  server_options.threads = 1;
  Server server(router, server_options);
  ASSERT_TRUE(server.start());
  ClientOptions options;
  options.unix_socket = (folder / "s").string();
  std::string text;
  const auto body = [&]() -> Task<> {
    Client client(options);
    text = co_await text_of(client.get("http://service/host"));
  };
  run(body());
  EXPECT_EQ(text, "service");
}

// A certificate proves one host only; others behind the same socket must present their own.
TEST_P(ClientConnections, BehindAUnixSocketEachHostProvesWhoItIs) {
  const auto issued = tls::make_self_signed({});
  if (!issued) GTEST_SKIP() << issued.error().text;
  const support::TemporaryDirectory folder;
  Router router;
  router.get("/", [] { return "ok"; });
  ServerOptions server_options;
  server_options.host = "unix:" + (folder / "s").string();
  server_options.threads = 1;
  server_options.tls.certificate = issued->certificate;
  server_options.tls.private_key = issued->private_key;
  Server server(router, server_options);
  ASSERT_TRUE(server.start());
  ClientOptions options;
  options.unix_socket = (folder / "s").string();
  options.tls.authorities = issued->certificate;
  const auto body = [&]() -> Task<> {
    Client client(options);
    auto right = co_await client.get("https://localhost/").text();
    EXPECT_EQ(right.value_or("problem"), "ok");
    auto wrong = co_await client.get("https://other.test/").text();
    EXPECT_FALSE(wrong);
    if (!wrong) {
      EXPECT_EQ(wrong.error().code(), Errc::TlsCertificate) << wrong.error().text;
    }
  };
  run(body());
}

TEST_P(ClientConnections, BehindAUnixSocketAPasswordIsForTheHostThatHasAsked) {
  const support::TemporaryDirectory folder;
  Router router;
  router.get("/", [](const Request& request) {
    const auto field = request.header("authorization");
    if (field || request.header("host") == "b") return Response(std::string(field.value_or("no")));
    Response response(Status::Unauthorized);
    response.header("WWW-Authenticate", "Basic realm=\"r\"");
    return response;
  });
  ServerOptions server_options;
  server_options.host = "unix:" + (folder / "s").string();
  server_options.threads = 1;
  Server server(router, server_options);
  ASSERT_TRUE(server.start());
  ClientOptions options;
  options.unix_socket = (folder / "s").string();
  const auto body = [&]() -> Task<> {
    Client client(options);
    const std::string a = co_await text_of(client.get("http://a/").auth("u", "p"));
    EXPECT_EQ(a, "Basic dTpw");
    const std::string b = co_await text_of(client.get("http://b/").auth("u", "p"));
    EXPECT_EQ(b, "no");
  };
  run(body());
}

TEST_P(ClientConnections, AWebSocketIsOpenedThroughAUnixSocket) {
  const support::TemporaryDirectory folder;
  Router router;
  router.websocket(
      "/echo", [](WebSocket& socket) -> Task<> { static_cast<void>(co_await socket.receive()); });
  ServerOptions server_options;
  server_options.host = "unix:" + (folder / "s").string();
  server_options.threads = 1;
  Server server(router, server_options);
  ASSERT_TRUE(server.start());
  ClientOptions options;
  options.unix_socket = (folder / "s").string();
  const auto body = [&]() -> Task<> {
    Client client(options);
    auto socket = co_await client.websocket("ws://service.test/echo");
    EXPECT_TRUE(socket);
  };
  run(body());
}

TEST_P(ClientConnections, OneThatWasSaidToCloseIsNotUsedAgain) {
  const auto once = [](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send(ok);
    EXPECT_TRUE(peer.is_closed());
  };
  testing::ScriptedServer server({once, once});
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  const auto body = [&]() -> Task<> {
    Client client;
    const std::string last = co_await text_of(client.get(url).header("Connection", "TE, close"));
    EXPECT_EQ(last, "ok");
    const std::string next = co_await text_of(client.get(url));
    EXPECT_EQ(next, "ok");
  };
  run(body());
}

// The server would take the next request for the rest of the content.
TEST_P(ClientConnections, OneOnWhichContentIsMissingIsNotUsedAgain) {
  Event has_head;
  std::promise<void> thrown;
  testing::ScriptedServer server([&thrown](Peer& peer) {
    static_cast<void>(peer.some());
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no");
    thrown.get_future().wait();
    peer.send("k");
    EXPECT_EQ(peer.rest().find("GET"), std::string::npos);
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  const auto produce = [&has_head](BodyWriter& out) -> Task<> {
    co_await out.write("some");
    co_await has_head.wait();
    throw std::runtime_error("the source is dry");
  };
  ClientOptions options;
  options.timeouts.head = std::chrono::milliseconds(100);
  const auto body = [&]() -> Task<> {
    Client client(options);
    {
      ClientRequest request = client.post(url);
      request.stream("text/plain", produce, 100);
      auto response = co_await std::move(request).send();
      EXPECT_TRUE(response);
      if (!response) {
        thrown.set_value();  // the server waits for this
        co_return;
      }
      has_head.set();
      co_await yield();
      bool has_thrown = false;
      try {
        auto text = co_await response->text();
      } catch (const std::runtime_error&) {
        has_thrown = true;
      }
      EXPECT_TRUE(has_thrown);
      thrown.set_value();
      auto rest = co_await response->text();
    }
    auto next = co_await client.get(url).text();
    EXPECT_FALSE(next);
  };
  run(body());
}

// ClientTimeouts::head starts at the end of the request.
TEST_P(ClientConnections, WhoMakesContentSlowlyLeavesTheServerItsTime) {
  Event is_made;
  std::promise<void> waited;
  testing::ScriptedServer server([&waited](Peer& peer) {
    std::string all;
    while (!all.ends_with("0\r\n\r\n")) all.append(peer.some());
    waited.get_future().wait();
    peer.send(ok);
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  ClientOptions options;
  options.timeouts.head = std::chrono::milliseconds(500);
  const auto produce = [&is_made](BodyWriter& out) -> Task<> {
    co_await out.write("some");
    co_await sleep(std::chrono::milliseconds(600));
    is_made.set();
  };
  // Gives the client several loop turns to check its timeouts before the response.
  const auto let_answer = [&]() -> Task<> {
    co_await is_made.wait();
    for (int turns = 0; turns < 10; ++turns) co_await yield();
    waited.set_value();
  };
  const auto body = [&]() -> Task<> {
    Client client(options);
    Task<std::string> asking = text_of(client.post(url).stream("text/plain", produce));
    Task<> letting = let_answer();
    const auto both = co_await when_all(std::move(asking), std::move(letting));
    EXPECT_EQ(std::get<0>(both), "ok");
  };
  run(body());
}

TEST_P(ClientConnections, ContentThatNobodyTakesIsOutOfTheTimeForContent) {
  std::promise<void> given_up;
  testing::ScriptedServer server([&given_up](Peer& peer) {
    given_up.get_future().wait();
    static_cast<void>(peer.some());
  });
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  ClientOptions options;
  options.timeouts.idle = std::chrono::milliseconds(100);
  const auto body = [&]() -> Task<> {
    Client client(options);
    const std::string text = co_await text_of(client.post(url).body(std::string(32 << 20, 'x')));
    given_up.set_value();
    EXPECT_NE(text.find("no more content was taken within 100 ms (ClientTimeouts::idle)"),
              text.npos)
        << text;
  };
  run(body());
}

TEST_P(ClientConnections, ContentThatNobodyProducesIsToldApart) {
  Router router;
  router.post("/", [] { return "ok"; });
  testing::TestServer server(router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  ClientOptions options;
  options.timeouts.idle = std::chrono::milliseconds(50);
  const auto produce = [](BodyWriter& writer) -> Task<> {
    auto written = writer.write("a beginning");
    co_await written;
    co_await sleep(20s);  // it is dropped before
  };
  const auto body = [&]() -> Task<> {
    Client client(options);
    const std::string text = co_await text_of(client.post(url).stream("text/plain", produce));
    EXPECT_NE(text.find("no more content was produced within 50 ms (ClientTimeouts::idle)"),
              text.npos)
        << text;
  };
  run(body());
}

TEST_P(ClientConnections, EachStepIsTimed) {
  Router router;
  router.get("/", [] { return "ok"; });
  testing::TestServer server(router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  const auto body = [&]() -> Task<> {
    Client client;
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
    auto first = co_await client.get(url);
    EXPECT_TRUE(first);
    if (!first) co_return;
    auto text = co_await first->text();
    EXPECT_TRUE(text);
    const ClientTimings& timings = first->timings();
    EXPECT_TRUE(timings.resolved && timings.connected && timings.sent && timings.head);
    EXPECT_FALSE(timings.secured);
    EXPECT_LE(*timings.connected, *timings.sent);
    EXPECT_LE(*timings.sent, *timings.head);
    EXPECT_LE(*timings.head, *timings.content);
    auto second = co_await client.get(url);
    EXPECT_TRUE(second);
    if (!second) co_return;
    EXPECT_FALSE(second->timings().connected);
    EXPECT_TRUE(second->timings().head);
  };
  run(body());
}

// Two small writes in a row would incur a delayed acknowledgement of at least 40 ms.
TEST_P(ClientConnections, PostsInARowWaitForNobody) {
  Router router;
  router.post("/", [](Request& request) -> Task<std::string> {
    std::size_t size = 0;
    while (auto piece = co_await request.read()) size += piece->size();
    co_return std::to_string(size);
  });
  testing::TestServer server(router, BackendChoice::Auto, {}, testing::Transport::Tcp);
  constexpr int count = 1000;
  std::vector<std::chrono::steady_clock::duration> times;
  const auto body = [&]() -> Task<> {
    Client client;
    const std::string url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
    for (int i = 0; i < count; ++i) {
      const auto begun = std::chrono::steady_clock::now();
      auto text = co_await text_of(client.post(url).body(std::string(600, 'x')));
      EXPECT_EQ(text, "600");
      times.push_back(std::chrono::steady_clock::now() - begun);
    }
  };
  run(body());
  EXPECT_EQ(server->counters().connections_accepted, 1U);
  // A loaded machine may be slow occasionally; delayed acknowledgements would be slow every time.
  const auto slow = std::count_if(times.begin(), times.end(),
                                  [](auto time) { return time >= std::chrono::milliseconds(35); });
  EXPECT_LT(slow, count / 2);
}

INSTANTIATE_TEST_SUITE_P(All, ClientConnections, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace skua
