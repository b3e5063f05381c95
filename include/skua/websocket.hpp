// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/attachments.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/waiter.hpp"
#include "skua/websocket_message.hpp"

namespace skua {

class Request;
class WebSocket;

namespace ws {
class Socket;
class RemoteSocket;
}  // namespace ws

/// Whether messages are compressed (permessage-deflate), where the peer can do so.
///
/// RFC:       7692
enum class WebSocketCompression : std::uint8_t {
  Off,
  PerMessage,  ///< each for itself: an idle socket costs nothing more
  Context,     ///< with what came before it in mind: better, for 300 KiB a socket; not what is sent
               ///< under SlowPeer::DropOldest
};

/// What happens to messages for a peer that does not take them, once
/// WebSocketOptions::queue_bytes wait.
enum class SlowPeer : std::uint8_t {
  Wait,        ///< `co_await send()` waits; where nobody can wait, as Close
  DropOldest,  ///< the one that has waited longest is forgotten
  DropNewest,  ///< the new one is forgotten
  Close,       ///< the socket is closed: 1008
};

/// How WebSockets of a route, or of a client, behave.
struct WebSocketOptions {
  std::size_t message_bytes = 1_MiB;  ///< of a message of the peer, decompressed: 1009
  std::size_t queue_bytes = 1_MiB;    ///< of messages that wait for a slow peer
  SlowPeer slow_peer = SlowPeer::Wait;
  Duration idle = 60s;  ///< without a sign of life, also none to a ping: closed
  Duration ping = 30s;  ///< without a sign of life: a ping is sent
  Duration close = 5s;  ///< for the peer's answer to a close, and for a handler after the end
  WebSocketCompression compression = WebSocketCompression::Off;
  /// Those that are spoken, the best first; none: the peer's offers are not answered.
  std::vector<std::string> subprotocols{};
  /// Servers only: who else may connect from a browser, as `https://example.com`; `*` is anybody.
  /// The server's own origin always may, and so may whoever is no browser and sends no Origin.
  std::vector<std::string> origins{};
};

namespace detail {

/// What WebSocket::receive() returns, to be awaited at once.
class MessageAwaiter {
 public:
  explicit MessageAwaiter(ws::Socket& socket) noexcept : socket_(&socket) {}
  MessageAwaiter(const MessageAwaiter&) = delete;
  MessageAwaiter& operator=(const MessageAwaiter&) = delete;
  ~MessageAwaiter();
  [[nodiscard]] bool await_ready() const;
  void await_suspend(std::coroutine_handle<> receiver);
  std::optional<Message> await_resume() noexcept;

 private:
  ws::Socket* socket_;
  bool is_parked_ = false;
};

/// What WebSocket::send() returns; to be awaited at once, or not at all.
class SendAwaiter {
 public:
  SendAwaiter(ws::Socket& socket, MessageType type, std::string_view content);
  SendAwaiter(const SendAwaiter&) = delete;
  SendAwaiter& operator=(const SendAwaiter&) = delete;
  ~SendAwaiter();
  [[nodiscard]] bool await_ready() const noexcept { return !must_wait_; }
  void await_suspend(std::coroutine_handle<> sender);
  bool await_resume();

 private:
  ws::Socket* socket_;
  std::string_view content_;
  Waiter waiter_;
  MessageType type_;
  bool must_wait_ = false;
  bool is_awaited_ = false;
  bool is_sent_ = false;
};

}  // namespace detail

/// Sends to a WebSocket from any thread, as long as it is there; copies are of the same one.
class WebSocketSender final {
 public:
  explicit WebSocketSender(std::shared_ptr<ws::RemoteSocket> remote) noexcept
      : remote_(std::move(remote)) {}

  /// Sends a message, in the order of the calls of one thread. It goes nowhere when the socket is
  /// gone; SlowPeer decides where the peer is slow. Any thread.
  void send(std::string_view text, MessageType type = MessageType::Text) const;
  /// Begins to close. Any thread.
  void close(CloseCode code = CloseCode::Normal, std::string_view reason = {}) const;
  /// Whether there is still somebody to send to. Any thread.
  [[nodiscard]] bool is_open() const noexcept;

 private:
  std::shared_ptr<ws::RemoteSocket> remote_;
};

/// One WebSocket: messages both ways until either side closes.
///
/// ```cpp
/// router.websocket("/echo", [](skua::WebSocket& socket) -> skua::Task<> {
///   while (auto message = co_await socket.receive()) co_await socket.send(message->text);
/// });
/// ```
/// Pings are answered, and the peer's life is watched, by itself. When a handler ends, its socket
/// is closed: with 1000, or with 1011 where it threw.
///
/// Lifetime:  that of a server's ends after its handler, or after the close callback. A client's is
///            its owner's, who drops it before the loop ends: then it is closed with 1000. All but
///            sender() is for one thread.
class WebSocket final {
 public:
  explicit WebSocket(ws::Socket& socket SKUA_LIFETIMEBOUND) noexcept : socket_(&socket) {}
  /// A client's, with its connection.
  WebSocket(ws::Socket& socket, std::shared_ptr<void> connection) noexcept
      : socket_(&socket), connection_(std::move(connection)) {}
  WebSocket(WebSocket&&) noexcept = default;
  WebSocket& operator=(WebSocket&&) noexcept = default;
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;
  ~WebSocket() = default;

  /// The next message; nothing when the socket is closed: then close_reason() says why. For
  /// coroutines; one at a time.
  ///
  /// Waits for: a whole message. Once one waits to be received, nothing more is read of the peer.
  /// Ends with: of a server, the handler dropped when it goes on waiting after the connection is
  ///            gone, or for longer than WebSocketOptions::close after the end.
  /// Lifetime:  the message's views are valid until the next receive().
  [[nodiscard]] detail::MessageAwaiter receive() noexcept {
    return detail::MessageAwaiter(*socket_);
  }

  /// Sends a text, which has to be UTF-8. Awaited, it says whether the message was taken (false:
  /// the socket is closed, or SlowPeer forgot it). Not awaited, it does not wait.
  ///
  /// Waits for: room among what waits for the peer, where SlowPeer is Wait.
  detail::SendAwaiter send(std::string_view text);
  /// The same with binary content.
  detail::SendAwaiter send(Bytes bytes);
  /// Asks the peer for a sign of life, with at most 125 bytes that it sends back; behind the
  /// messages that wait for it.
  void ping(std::string_view payload = {});
  /// Tells of each ping and pong of the peer, with what it carries, until the handler has ended or
  /// the socket is dropped. Pings are answered all the same. What the function throws is logged,
  /// and closes with 1011.
  void on_control(std::function<void(WebSocketControl, std::string_view payload)> call);
  /// Begins to close: nothing can be sent after it, and what arrives until the peer's answer is
  /// dropped. Once; later calls do nothing.
  ///
  /// Ends with: std::invalid_argument for a code that must not be sent (all but 1000 to 1003, 1007
  ///            to 1014 and 3000 to 4999), for a reason of more than 123 bytes.
  void close(CloseCode code = CloseCode::Normal, std::string_view reason = {});

  [[nodiscard]] bool is_open() const noexcept;
  /// Why it is closed, once it is.
  [[nodiscard]] const CloseReason& close_reason() const noexcept SKUA_LIFETIMEBOUND;
  /// The subprotocol that was agreed on; empty without one.
  [[nodiscard]] std::string_view subprotocol() const noexcept SKUA_LIFETIMEBOUND;
  /// Whether both sides agreed to compress.
  [[nodiscard]] bool is_compressed() const noexcept;
  /// Bytes that were sent and that the peer has not taken.
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept;

  // Topics are of servers only: for a client's socket these end with std::logic_error.

  /// Publishes what is said about a topic to this socket, too.
  void subscribe(std::string_view topic);
  void unsubscribe(std::string_view topic);
  /// Sends a text to all sockets of this server that are subscribed to the topic, also those of
  /// other threads, and this one if it is. It is framed, and compressed, once.
  void publish(std::string_view topic, std::string_view text, MessageType type = MessageType::Text);

  /// What can be kept and used by other threads.
  [[nodiscard]] WebSocketSender sender();

  /// What guards attached to the request, and what you keep with the socket.
  [[nodiscard]] Attachments& attachments() SKUA_LIFETIMEBOUND;

 private:
  ws::Socket* socket_;
  std::shared_ptr<void> connection_{};
};

/// A handler of WebSockets for those who prefer callbacks to coroutines. They are shared by all
/// sockets of their route and called by several threads at once; what belongs to one socket is kept
/// in its attachments(). What one throws closes the socket with 1011. Empty ones are not called.
struct WebSocketCallbacks {
  /// It is open. The request is there during the call only.
  std::function<void(WebSocket&, Request&)> open{};
  /// A message, whose views are valid during the call.
  std::function<void(WebSocket&, Message)> message{};
  /// The peer has taken most of what waited for it.
  std::function<void(WebSocket&)> drain{};
  /// The last call, always, if there was an open one.
  std::function<void(WebSocket&, const CloseReason&)> close{};
};

}  // namespace skua
