// SPDX-License-Identifier: MIT
// In: subscriptions. Out: server-sent events, answers to long polls, texts on WebSockets.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "body/slow_peer.hpp"
#include "loop/loop.hpp"
#include "loop/timed_wait.hpp"
#include "skua/events.hpp"
#include "skua/request.hpp"
#include "skua/topics.hpp"
#include "skua/websocket.hpp"
#include "topics/hub.hpp"
#include "topics/reading.hpp"

namespace skua {

using topics::EntryPtr;
using topics::Hub;
using topics::Reading;
using topics::Start;

namespace {

using Kind = TopicMessage::Kind;

// Server-sent events ------------------------------------------------------------------------------

// RFC: WHATWG HTML §9.2.4: a client that reconnects sends Last-Event-ID.
Start start_of(const Request& request, const TopicStart& start) {
  auto after = request.header("Last-Event-ID");
  if (!after) after = request.query("after");
  return {.after = std::string(after.value_or(start.after)), .history = start.history};
}

Task<> send_events(EventWriter& out, std::shared_ptr<Hub> hub, std::string name, Start start) {
  Reading::Opened reading =
      co_await Reading::open(std::move(hub), std::move(name), std::move(start));
  if (!reading) co_return;
  // A client that loses its connection before the first message has this to resume after.
  const std::string position = (*reading)->position().to_string();
  co_await out.checkpoint(position);
  while (true) {
    const Result<EntryPtr, Problem> next = co_await (*reading)->next();
    if (!next) co_return;
    const TopicMessage& message = (*next)->message;
    const bool is_gap = message.kind == Kind::Gap;
    const ServerSentEvent event{
        .data = message.text, .event = is_gap ? "gap" : "", .id = message.id};
    BodyWriter::Awaiter room = out.send(event);
    if (room.await_ready()) continue;
    if ((*reading)->may_be_late()) {
      co_await body::await_room(room, (*reading)->changes(), [&] { return (*reading)->is_late(); });
    } else {
      co_await room;  // messages that come meanwhile do not wake it
    }
  }
}

// Long polls --------------------------------------------------------------------------------------

/// The answer to a poll.
struct Polled {
  std::string messages{};  ///< in JSON, with commas
  std::string after{};
  std::size_t count = 0;
  bool has_gap = false;
};

// Returns whether there may be more: a gap between messages is left to the next poll.
bool add_to(Polled& polled, const TopicMessage& message) {
  if (message.kind == Kind::Gap) {
    if (polled.count != 0) return false;
    polled.has_gap = true;
  } else {
    if (polled.count++ != 0) polled.messages += ',';
    polled.messages += message.to_json();
  }
  polled.after = message.id;
  return true;
}

Response response_of(const Polled& polled) {
  std::string json = R"({"messages":[)" + polled.messages + R"(],"after":")" + polled.after;
  json += polled.has_gap ? R"(","gap":true})" : R"(","gap":false})";
  return Response::json(std::move(json)).header("Cache-Control", "no-store");
}

Response not_now() { return Response(Status::ServiceUnavailable).header("Retry-After", "1"); }

Task<Response> answer_poll(std::shared_ptr<Hub> hub, std::string name, std::string after,
                           PollOptions options) {
  loop::Loop& loop = loop::Loop::current();
  const loop::Instant deadline = later(loop.now(), options.wait);
  Polled polled;
  if (topics::parse_message_id(after)) polled.after = after;
  Start start;
  start.after = after;
  Task<Reading::Opened> opening = Reading::open(std::move(hub), std::move(name), std::move(start));
  std::optional<Reading::Opened> opened = co_await loop::within(loop, deadline, std::move(opening));
  if (!opened) co_return polled.after.empty() ? not_now() : response_of(polled);
  if (!*opened) co_return not_now();
  Reading& reading = ***opened;
  if (after.empty()) {
    polled.after = reading.position().to_string();
    co_return response_of(polled);
  }
  Task<Result<EntryPtr, Problem>> taking = reading.next();
  const auto first = co_await loop::within(loop, deadline, std::move(taking));
  if (first && !*first && polled.after.empty()) co_return not_now();
  if (!first || !*first) co_return response_of(polled);
  bool may_be_more = add_to(polled, (**first)->message);
  while (may_be_more && polled.count < options.max_messages) {
    const EntryPtr entry = reading.take_ready();
    may_be_more = entry != nullptr && add_to(polled, entry->message);
  }
  co_return response_of(polled);
}

// WebSockets --------------------------------------------------------------------------------------

void close_for(WebSocket& socket, const Problem& why) {
  switch (why.code()) {
    case Errc::Overloaded: return socket.close(CloseCode::PolicyViolation, why.text);
    case Errc::Closed: return socket.close(CloseCode::GoingAway);
    default: return socket.close(CloseCode::TryAgainLater);
  }
}

using Format = std::function<std::string(const TopicMessage&)>;

Task<> forward_to(WebSocket& socket, std::shared_ptr<Hub> hub, std::string name, Start start,
                  Format format) {
  Reading::Opened reading =
      co_await Reading::open(std::move(hub), std::move(name), std::move(start));
  if (!reading) {
    const bool is_full = reading.error().code() == Errc::Overloaded;  // not the peer's fault
    is_full ? socket.close(CloseCode::TryAgainLater) : close_for(socket, reading.error());
    co_return;
  }
  const TopicMessage begin{.kind = Kind::Start, .id = (*reading)->position().to_string()};
  std::string text = format(begin);
  if (!text.empty()) co_await socket.send(text);
  while (socket.is_open()) {
    const Result<EntryPtr, Problem> next = co_await (*reading)->next();
    if (!next) {
      close_for(socket, next.error());
      co_return;
    }
    text = format((*next)->message);
    if (!text.empty()) co_await socket.send(text);
  }
}

}  // namespace

Response Topics::events(const Request& request, const std::string& topic, TopicStart start) {
  return server_sent_events([hub = hub_, name = topics::messages_of(topic),
                             from = start_of(request, start)](EventWriter& out) {
    return send_events(out, hub, name, from);
  });
}

Task<Response> Topics::poll(const Request& request, const std::string& topic, PollOptions options) {
  std::string after(request.query("after").value_or(""));
  return answer_poll(hub_, topics::messages_of(topic), std::move(after), options);
}

Task<> Topics::forward(WebSocket& socket, const std::string& topic, TopicStart start) {
  return forward_as(socket, topic, start,
                    [](const TopicMessage& message) { return message.to_json(); });
}

Task<> Topics::forward_as(WebSocket& socket, const std::string& topic, TopicStart start,
                          Format format) {
  Start own{.after = std::string(start.after), .history = start.history};
  return forward_to(socket, hub_, topics::messages_of(topic), std::move(own), std::move(format));
}

}  // namespace skua
