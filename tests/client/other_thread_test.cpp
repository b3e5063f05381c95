// SPDX-License-Identifier: MIT
// Objects of one thread's loop that another thread uses, and calls that would stop a loop: each is
// an exception that says what to do instead, where it would be a wait without end.
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>
#include <utility>

#include "skua.hpp"
#include "support/test_server.hpp"
#include "support/wait_until.hpp"

namespace skua {
namespace {

using testing::TestServer;
using testing::Transport;

/// Returns the text of the std::logic_error that a call throws on another thread.
template <class Call>
std::string elsewhere(Call call) {
  const auto text = [&]() -> std::string {
    try {
      call();
    } catch (const std::logic_error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  return std::async(std::launch::async, text).get();
}

void expect_part(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

Task<> wait_for(Event& event) { co_await event.wait(); }
Task<> receive_from(Channel<int>& channel) { static_cast<void>(co_await channel.receive()); }
Task<> send_to(Channel<int>& channel) { static_cast<void>(co_await channel.send(2)); }

TEST(OtherThread, EventsAreSetWhereTheirTasksWait) {
  Event event;
  const auto loop = Loop::create().value();
  EXPECT_EQ(elsewhere([&] { event.set(); }), "nothing was thrown") << "nobody waits";
  event.reset();
  loop->spawn(wait_for(event));
  expect_part(elsewhere([&] { event.set(); }), "Loop::post()");
  EXPECT_FALSE(event.is_set());
  expect_part(elsewhere([&] { run(wait_for(event)); }), "another thread");
  event.set();  // between turns
  loop->poll();
  loop->post([&] { event.reset(); });
  loop->poll();
  EXPECT_FALSE(event.is_set());
}

TEST(OtherThread, EventsMayBeUsedByOneLoopAfterAnother) {
  Event event;
  for (int i = 0; i < 2; ++i) {
    event.reset();
    const auto wait_twice = [&]() -> Task<> {
      Scope scope;
      scope.spawn(wait_for(event));
      event.set();
      co_await scope.join();
    };
    std::async(std::launch::async, [&] { run(wait_twice()); }).get();
    run(wait_twice());
  }
}

TEST(OtherThread, ChannelsAreUsedWhereTheirTasksWait) {
  const auto loop = Loop::create().value();
  Channel<int> channel(1);
  loop->spawn(receive_from(channel));
  expect_part(elsewhere([&] { channel.try_send(1); }), "Loop::post()");
  expect_part(elsewhere([&] { channel.close(); }), "Loop::post()");
  expect_part(elsewhere([&] { run(send_to(channel)); }), "another thread");
  EXPECT_EQ(channel.size(), 0U);
  EXPECT_TRUE(channel.try_send(1));
  loop->poll();
  EXPECT_EQ(channel.size(), 0U);
  EXPECT_TRUE(channel.try_send(1));
  loop->spawn(send_to(channel));
  expect_part(elsewhere([&] { run(receive_from(channel)); }), "another thread");
  EXPECT_EQ(channel.size(), 1U);
}

TEST(OtherThread, ClientsNameTheOneForAllThreads) {
  const auto loop = Loop::create().value();
  Client client;
  const std::string text = elsewhere([&] { static_cast<void>(client.get("http://127.0.0.1/")); });
  expect_part(text, "BackgroundClient");
  EXPECT_EQ(elsewhere([&] { static_cast<void>(client.request("LIST", "http://127.0.0.1/")); }),
            text);
  EXPECT_EQ(elsewhere([&] { static_cast<void>(client.websocket("ws://127.0.0.1/")); }), text);
  EXPECT_EQ(elsewhere([&] { static_cast<void>(client.close()); }), text);
  static_cast<void>(client.get("http://127.0.0.1/"));  // between turns
  expect_part(elsewhere([&] {
                const auto other = Loop::create().value();
                static_cast<void>(client.get("http://127.0.0.1/"));
              }),
              "BackgroundClient");
}

TEST(OtherThread, ClientsOfRedisNamePerThread) {
  const auto loop = Loop::create().value();
  redis::Client client("redis://127.0.0.1:1");
  const auto command = [&] { static_cast<void>(client.command("GET", "a")); };
  expect_part(elsewhere(command), "redis::PerThread");
  static_cast<void>(client.command("GET", "a"));
}

TEST(OtherThread, TimersAndStreamsAreUsedOnTheirThread) {
  const auto loop = Loop::create().value();
  Timer timer([] {});
  expect_part(elsewhere([&] { timer.start(1ms); }), "Loop::post()");
  EXPECT_FALSE(timer.is_running());
  const Router router;
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  auto stream = loop->run(TcpStream::connect("127.0.0.1", server.port()));
  ASSERT_TRUE(stream) << stream.error().text;
  expect_part(elsewhere([&] { stream->write("x"); }), "Loop::post()");
  expect_part(elsewhere([&] { static_cast<void>(stream->send("x")); }), "Loop::post()");
  stream->write("x");
}

// The program has kept the socket itself instead of its sender().
TEST(OtherThread, WebSocketsNameTheirSender) {
  std::promise<WebSocket*> opened;
  Router router;
  router.websocket("/", [&opened](WebSocket& socket) -> Task<> {
    opened.set_value(&socket);
    while (const auto message = co_await socket.receive()) co_await socket.send(message->text);
  });
  TestServer server(router, BackendChoice::Auto, {}, Transport::Tcp);
  const std::string url = "ws://127.0.0.1:" + std::to_string(server.port()) + "/";
  const auto talk = [&]() -> Task<> {
    Client client;
    auto socket = co_await client.websocket(url);
    if (!socket) throw std::runtime_error(socket.error().text);
    WebSocket& kept = *opened.get_future().get();
    const std::string text = elsewhere([&] { kept.send("x"); });
    expect_part(text, "sender()");
    EXPECT_EQ(elsewhere([&] { kept.close(); }), text);
    EXPECT_EQ(elsewhere([&] { kept.ping(); }), text);
    EXPECT_EQ(elsewhere([&] { kept.subscribe("a"); }), text);
    EXPECT_EQ(elsewhere([&] { kept.publish("a", "x"); }), text);
    EXPECT_EQ(elsewhere([&] { socket->send("x"); }), text) << "the client's";
    socket->send("still open");
    const auto message = co_await socket->receive();
    EXPECT_TRUE(message && message->text == "still open");
  };
  run(talk());
}

// They would stop the loop, so that nothing could answer, and no signal could end the program.
TEST(OtherThread, LoopsAreNotRunInTurnsOfOthers) {
  std::string base;
  Router router;
  router.get("/", [] { return "hello"; });
  router.get("/blocking", [&base] { return blocking::get(base + "/").value(); });
  router.get("/run", [] {
    run([]() -> Task<> { co_return; }());
    return "ran";
  });
  router.get("/offloaded", [&base](Request&) -> Task<std::string> {
    const auto call = [&base] { return blocking::get(base + "/").value(); };
    std::string text = co_await offload(call);
    co_return text;
  });
  std::mutex mutex;
  std::string lines;
  TestServer server(router, BackendChoice::Auto,
                    {.hooks = {.log =
                                   [&](LogLevel, std::string_view line) {
                                     const std::lock_guard lock(mutex);
                                     lines.append(line).append("\n");
                                   }}},
                    Transport::Tcp);
  base = "http://127.0.0.1:" + std::to_string(server.port());
  for (const char* const path : {"/blocking", "/run"}) {
    const auto failed = blocking::get(base + path);
    ASSERT_FALSE(failed) << path;
    EXPECT_EQ(failed.error().code(), Errc::UnexpectedStatus) << failed.error().text;
  }
  EXPECT_EQ(blocking::get(base + "/offloaded").value(), "hello");
  server->shutdown();
  const std::lock_guard lock(mutex);
  expect_part(lines, "skua::blocking: this thread runs a loop");
  expect_part(lines, "run: this thread runs a loop");
}

}  // namespace
}  // namespace skua
