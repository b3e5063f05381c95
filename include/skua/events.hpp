// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <string_view>
#include <type_traits>

#include "skua/body_writer.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

/// An event of a text/event-stream. WHATWG HTML §9.2
struct ServerSentEvent {
  std::string_view data{};            ///< any text; a line feed begins another `data:` line
  std::string_view event{};           ///< its type; empty: `message`
  std::string_view id{};              ///< sent back as Last-Event-ID when a client reconnects
  std::chrono::milliseconds retry{};  ///< the client's delay before it reconnects; zero: unchanged
};
static_assert(std::is_trivially_copyable_v<ServerSentEvent>);

/// Writes server-sent events; see server_sent_events().
class SKUA_API EventWriter final {
 public:
  explicit EventWriter(BodyWriter& out SKUA_LIFETIMEBOUND);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  /// Sends an event.
  ///
  /// Waits for: a client that keeps up.
  /// Ends with: std::invalid_argument for an event type or id with a line break or NUL.
  BodyWriter::Awaiter send(const ServerSentEvent& event);
  /// Sends an id without an event: a client that reconnects sends it back.
  ///
  /// Ends with: std::invalid_argument for an id with a line break or NUL.
  BodyWriter::Awaiter checkpoint(std::string_view id);
  /// Sends a line that clients ignore.
  BodyWriter::Awaiter comment(std::string_view text);

  /// Returns the time since something was last sent.
  [[nodiscard]] Duration quiet() const;

 private:
  BodyWriter* out_;
  Duration sent_at_;  // on the loop's clock
};

/// Returns a response that sends events until `produce` ends or the client goes:
///
/// ```cpp
/// return skua::server_sent_events([](skua::EventWriter& out) -> skua::Task<> {
///   const skua::ServerSentEvent greeting{.data = "hello", .event = "greeting"};
///   co_await out.send(greeting);
/// });
/// ```
/// A comment keeps the connection alive if nothing was sent for `keep_alive`; zero sends none. The
/// stream ends when the server drains: browsers reconnect on their own.
[[nodiscard]] SKUA_API Response server_sent_events(std::function<Task<>(EventWriter&)> produce,
                                                   Duration keep_alive = 15s);

}  // namespace skua
