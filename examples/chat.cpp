// SPDX-License-Identifier: MIT
// WebSockets: a chat page with rooms, their history, and the people in them.
// Usage: `example-chat [PORT [FOLDER]]`, where FOLDER has the page.
#include <skua.hpp>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "chat/rooms.hpp"

using namespace skua::literals;

namespace {

using chat::Json;

bool is_name(const Json& message, const char* field) {
  const auto found = message.find(field);
  if (found == message.end() || !found->is_string()) return false;
  const std::size_t size = found->get_ref<const std::string&>().size();
  return size > 0 && size <= 100;
}

// Handles a message; returns what is wrong with it, or an empty string.
std::string handle(chat::Rooms& rooms, skua::WebSocket& socket, std::optional<chat::Seat>& seat,
                   std::string_view text) {
  const Json message = Json::parse(text, nullptr, false);
  const Json type = message.is_object() ? message.value("type", Json()) : Json();
  if (type == "join" && is_name(message, "name") && is_name(message, "room") && !seat) {
    seat.emplace(rooms, socket, message);
    return {};
  }
  if (type != "say" || !seat) return "Join a room first, then say something.";
  if (!message.value("text", Json()).is_string()) return "The message has no text.";
  return seat->say(message["text"]), std::string();
}

}  // namespace

int main(int count, char** arguments) {
  chat::Rooms rooms;
  skua::Router router;
  router.websocket("/chat",
                   [&rooms](skua::WebSocket& socket) -> skua::Task<> {
                     std::optional<chat::Seat> seat;
                     while (auto message = co_await socket.receive()) {
                       const std::string wrong = handle(rooms, socket, seat, message->text);
                       if (!wrong.empty())
                         socket.send(Json{{"type", "error"}, {"text", wrong}}.dump());
                     }
                   },
                   {.message_bytes = 4096});
  router.get("/{path...}",
             skua::FileHandler::open(count > 2 ? arguments[2] : "examples/chat").value());

  const int port = count > 1 ? std::atoi(arguments[1]) : 8080;
  const skua::ShutdownSignals signals;
  skua::Server server(
      router, {.host = "127.0.0.1", .port = static_cast<std::uint16_t>(port), .threads = 1});
  server.start().value();
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
}
