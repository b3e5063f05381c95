// SPDX-License-Identifier: MIT
// The rooms of the chat examples: a topic for each, with what was said and who is there.
#pragma once

#include <skua.hpp>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

namespace chat {

using Json = nlohmann::json;

inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns a field that is a short text; empty if it is missing or something else.
inline std::string short_text(const Json& message, const char* field) {
  if (!message.is_object() || !message.contains(field) || !message[field].is_string()) return {};
  std::string text = message[field];
  return text.size() <= 100 ? text : std::string();
}

/// Returns a message as it is published.
inline std::string said(const std::string& name, const std::string& text) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  return text_of({{"name", name}, {"text", text}, {"at", at}});
}

/// Returns a message as the page gets it: with its id, which it sends back to resume after it.
inline std::string shown(const skua::TopicMessage& message) {
  using Kind = skua::TopicMessage::Kind;
  Json json = Json::object();
  if (message.kind == Kind::Message) json = Json::parse(message.text, nullptr, false);
  if (!json.is_object()) return {};
  const char* const types[] = {"said", "gap", "start"};
  json["type"] = types[static_cast<int>(message.kind)];
  json["id"] = message.id;
  return text_of(json);
}

inline skua::Task<> show_people(skua::TopicMembers people, skua::WebSocket& socket) {
  while (const auto members = co_await people.next()) {
    Json names = Json::array();
    for (const skua::TopicMember& member : *members) names.push_back(member.name);
    const std::string text = text_of({{"type", "people"}, {"names", std::move(names)}});
    co_await socket.send(text);
  }
}

/// A person in a room, from joining until the socket is closed for any reason.
class Seat {
 public:
  Seat(skua::Topics& topics, skua::WebSocket& socket, const Json& join)
      : name_(short_text(join, "name")),
        room_(short_text(join, "room")),
        presence_(topics.enter(room_, {.name = name_})) {
    const std::string after = short_text(join, "after");
    scope_.spawn(topics.forward(socket, room_, {.after = after, .history = 100}, shown));
    scope_.spawn(show_people(topics.watch_members(room_), socket));
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& room() const { return room_; }

 private:
  std::string name_;
  std::string room_;
  skua::TopicPresence presence_;
  skua::Scope scope_;
};

/// Serves a page: `{"type":"join","name":...,"room":...,"after":ID}`, then
/// `{"type":"say","text":...,"once":...}`, where `once` tells a message from all others, in case
/// that the page has to send it again.
inline skua::Task<> talk(skua::Topics& topics, skua::WebSocket& socket) {
  std::optional<Seat> seat;
  while (const auto message = co_await socket.receive()) {
    const Json json = Json::parse(message->text, nullptr, false);
    const std::string type = short_text(json, "type");
    std::string wrong = "Join a room first, then say something.";
    if (type == "join" && !seat && !short_text(json, "name").empty() &&
        !short_text(json, "room").empty()) {
      seat.emplace(topics, socket, json);
      wrong.clear();
    } else if (type == "say" && seat && json.contains("text") && json["text"].is_string()) {
      std::string text = said(seat->name(), json["text"]);
      const auto id =
          co_await topics.publish(seat->room(), std::move(text), short_text(json, "once"));
      wrong = id ? std::string() : "Your message was not sent: " + id.error().text;
    }
    if (!wrong.empty()) socket.send(text_of({{"type", "error"}, {"text", wrong}}));
  }
}

}  // namespace chat
