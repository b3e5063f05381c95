// SPDX-License-Identifier: MIT
// WebSocket handlers that must not compile; see routes.cpp for the form.
#include <span>
#include <string>
#include <vector>

#include "skua/router.hpp"

void handlers([[maybe_unused]] skua::Router& router);
skua::Task<> messages([[maybe_unused]] skua::WebSocket& socket);

void handlers([[maybe_unused]] skua::Router& router) {
#if CASE == 0
  // case 0: compiles
  router.websocket("/", [](skua::WebSocket&) -> skua::Task<> { co_return; });
  router.websocket("/{a}", [](const skua::Request&, skua::WebSocket&, std::string) -> skua::Task<> {
    co_return;
  });
  router.websocket(
      "/c", skua::WebSocketCallbacks{.message = [](skua::WebSocket& socket, skua::Message message) {
        socket.send(message.text);
      }});
#elif CASE == 1
  // case 1: a WebSocket handler takes a skua::WebSocket& first
  router.websocket("/", [](skua::WebSocket) -> skua::Task<> { co_return; });
#elif CASE == 2
  // case 2: a WebSocket handler is a coroutine
  router.websocket("/", [](skua::WebSocket&) {});
#elif CASE == 3
  // case 3: a WebSocket handler takes its skua::Request& before the socket
  router.websocket("/", [](skua::WebSocket&, skua::Request&) -> skua::Task<> { co_return; });
#elif CASE == 4
  // case 4: a WebSocket handler receives its messages
  router.websocket("/", [](skua::WebSocket&, skua::Message) -> skua::Task<> { co_return; });
#elif CASE == 5
  // case 5: several threads may call a handler at once
  router.websocket("/", [n = 0](skua::WebSocket&) mutable -> skua::Task<> {
    ++n;
    co_return;
  });
#elif CASE == 6
  // case 6: a coroutine takes its path parameters by value
  router.websocket("/{a}", [](skua::WebSocket&, const std::string&) -> skua::Task<> { co_return; });
#elif CASE == 7
  // case 7: the other parameters of a WebSocket handler are integers
  router.websocket("/{a}", [](skua::WebSocket&, std::vector<int>) -> skua::Task<> { co_return; });
#elif CASE == 8
  // case 8: a route is a pattern, then its handler
  router.websocket([](skua::WebSocket&) -> skua::Task<> { co_return; }, "/");
#endif
}

skua::Task<> messages([[maybe_unused]] skua::WebSocket& socket) {
#if CASE == 0
  while (auto message = co_await socket.receive()) {
    const std::string text(message->text);
    co_await socket.send(text);
    co_await socket.send(message->bytes());
  }
  const std::vector<std::byte> bytes;
  co_await socket.send(bytes);
  socket.send("text");
  const std::vector<int> numbers;
  socket.send(std::as_bytes(std::span(numbers)));
#elif CASE == 9
  // case 9: a message is awaited: write co_await socket.receive..
  while (auto message = socket.receive()) co_return;
#elif CASE == 10
  // case 10: send.. takes text or bytes
  socket.send(42);
#elif CASE == 11
  // case 11: send.. takes text or bytes
  socket.send(std::vector<int>{1});
#elif CASE == 12
  // case 12: send.. takes text or bytes
  auto message = co_await socket.receive();
  co_await socket.send(*message);
#elif CASE == 13
  // case 13: a message of bytes is binary
  socket.send("text", skua::MessageType::Binary);
#endif
  co_return;
}
