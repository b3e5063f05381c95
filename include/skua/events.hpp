// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <type_traits>

#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

/// One event of a text/event-stream. WHATWG HTML §9.2
struct ServerSentEvent {
  std::string_view data{};   ///< any text; a line feed begins another `data:` line
  std::string_view event{};  ///< its type; empty: `message`
  std::string_view id{};     ///< what a client that comes back sends as Last-Event-ID
  std::chrono::milliseconds
      retry{};  ///< how long a client waits before it comes back; zero: as before
};
static_assert(std::is_trivially_copyable_v<ServerSentEvent>);

/// Writes server-sent events; see server_sent_events().
class EventWriter final {
 public:
  explicit EventWriter(BodyWriter& out SKUA_LIFETIMEBOUND);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Sends an event.
  ///
  /// Waits for: a client that keeps up.
  /// Ends with: std::invalid_argument for an event type or id with a line break or NUL.
  BodyWriter::Awaiter send(const ServerSentEvent& event);
  /// Sends a line that clients ignore.
  BodyWriter::Awaiter comment(std::string_view text);

  /// For how long nothing was sent.
  [[nodiscard]] Duration quiet() const;

 private:
  BodyWriter* out_;
  Duration sent_at_;  // on the loop's clock
};

/// A response whose content is events, for as long as the client stays and `produce` does not end:
///
/// ```cpp
/// return skua::server_sent_events([](skua::EventWriter& out) -> skua::Task<> {
///   const skua::ServerSentEvent greeting{.data = "hello", .event = "greeting"};
///   co_await out.send(greeting);
/// });
/// ```
/// A comment keeps the connection alive whenever nothing was sent for `keep_alive`; zero: none
/// does. A server that drains ends the stream: browsers come back by themselves.
[[nodiscard]] Response server_sent_events(std::function<Task<>(EventWriter&)> produce,
                                          Duration keep_alive = 15s);

}  // namespace skua
