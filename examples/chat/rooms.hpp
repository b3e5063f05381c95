// SPDX-License-Identifier: MIT
// The rooms of the chat example: their people and recent messages. For one thread.
#pragma once

#include <skua.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace chat {

using Json = nlohmann::json;

struct Room {
  std::vector<std::string> names{};
  std::deque<Json> history{};
};
using Rooms = std::map<std::string, Room>;

/// A person in a room, from joining until the socket is closed for any reason.
class Seat {
 public:
  Seat(Rooms& rooms, skua::WebSocket& socket, const Json& join)
      : socket_(socket),
        name_(join.value("name", "")),
        topic_(join.value("room", "")),
        room_(rooms[topic_]) {
    room_.names.push_back(name_);
    socket_.subscribe(topic_);
    Json messages = Json::array();
    for (const Json& message : room_.history) messages.push_back(message);
    socket_.send(Json{{"type", "history"}, {"messages", std::move(messages)}}.dump());
    tell_people();
  }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;
  ~Seat() {
    std::erase(room_.names, name_);
    tell_people();
  }

  void say(const std::string& text) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    Json message{{"name", name_}, {"text", text}, {"at", at}};
    room_.history.push_back(message);
    if (room_.history.size() > 100) room_.history.pop_front();
    message["type"] = "said";
    socket_.publish(topic_, message.dump());
  }

 private:
  void tell_people() const {
    socket_.publish(topic_, Json{{"type", "people"}, {"names", room_.names}}.dump());
  }

  skua::WebSocket& socket_;
  std::string name_;
  std::string topic_;
  Room& room_;
};

}  // namespace chat
