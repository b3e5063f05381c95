// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "skua/attachments.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/waiter.hpp"
#include "skua/websocket_message.hpp"

namespace skua {

class Request;
class WebSocket;

namespace ws {
class Socket;
class RemoteSocket;
}  // namespace ws

/// How messages are compressed (permessage-deflate), if the peer supports it.
///
/// RFC:       7692
enum class WebSocketCompression : std::uint8_t {
  Off,
  PerMessage,  ///< each message by itself: no extra memory for an idle socket
  Context,     ///< with the context of earlier messages: smaller, for 300 KiB per socket; not for
               ///< messages sent under SlowPeer::DropOldest
};

/// The policy for a message to a slow peer once WebSocketOptions::queue_bytes are queued.
enum class SlowPeer : std::uint8_t {
  Wait,        ///< `co_await send()` waits; callers that cannot wait get Close
  DropOldest,  ///< the oldest queued messages are dropped
  DropNewest,  ///< the new message is dropped
  Close,       ///< the socket is closed: 1008
};

/// Options for the WebSockets of a route or a client.
struct WebSocketOptions {
  std::size_t message_bytes = 1_MiB;  ///< of a received message, decompressed: 1009
  std::size_t queue_bytes = 1_MiB;    ///< of messages queued for a slow peer
  SlowPeer slow_peer = SlowPeer::Wait;
  Duration idle = 60s;  ///< without a sign of life, not even an answer to a ping: closed
  Duration ping = 30s;  ///< without a sign of life: a ping is sent
  Duration close = 5s;  ///< for the peer's answer to a close, and for a handler after the end
  WebSocketCompression compression = WebSocketCompression::Off;
  /// The supported subprotocols, best first; empty: none is negotiated.
  std::vector<std::string> subprotocols{};
  /// Servers only: other origins whose pages may connect, as `https://example.com`; `*` for any.
  /// The server's own origin may always connect, and so may clients that send no Origin.
  std::vector<std::string> origins{};
};

namespace detail {

/// The awaitable of WebSocket::receive(); await it directly.
class SKUA_API MessageAwaiter {
 public:
  explicit MessageAwaiter(ws::Socket& socket) noexcept : socket_(&socket) {}
  MessageAwaiter(const MessageAwaiter&) = delete;
  MessageAwaiter& operator=(const MessageAwaiter&) = delete;
  ~MessageAwaiter();
  [[nodiscard]] bool await_ready() const;
  void await_suspend(std::coroutine_handle<> receiver);
  std::optional<Message> await_resume() noexcept;

  template <class Self = MessageAwaiter>
  explicit operator bool() const {
    static_assert(never<Self>, "a message is awaited: write co_await socket.receive()");
    return false;
  }
  template <class Self = MessageAwaiter>
  auto operator->() const {
    static_assert(never<Self>, "a message is awaited: write co_await socket.receive()");
    return this;
  }

 private:
  ws::Socket* socket_;
  bool is_parked_ = false;
};

/// The awaitable of WebSocket::send(); await it directly or not at all.
class SKUA_API SendAwaiter {
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

/// Tells a socket that its WebSocket was dropped.
struct SKUA_API SocketRelease {
  void operator()(ws::Socket* socket) const noexcept;
};

}  // namespace detail

/// A handle that sends to a WebSocket from any thread; copies refer to the same socket.
class SKUA_API WebSocketSender final {
 public:
  explicit WebSocketSender(std::shared_ptr<ws::RemoteSocket> remote) noexcept
      : remote_(std::move(remote)) {}

  /// Sends a message; messages from one thread stay in order. Does nothing if the socket is gone;
  /// SlowPeer applies if the peer is slow. Any thread.
  void send(std::string_view text, MessageType type = MessageType::Text) const;
  /// Starts the closing handshake. Any thread.
  void close(CloseCode code = CloseCode::Normal, std::string_view reason = {}) const;
  /// Reports whether the socket is still open. Any thread.
  [[nodiscard]] bool is_open() const noexcept;

 private:
  std::shared_ptr<ws::RemoteSocket> remote_;
};

/// A WebSocket: messages both ways until either side closes.
///
/// ```cpp
/// router.websocket("/echo", [](skua::WebSocket& socket) -> skua::Task<> {
///   while (auto message = co_await socket.receive()) co_await socket.send(message->text);
/// });
/// ```
/// Pings are answered, and silent peers detected, automatically. When a handler ends, its socket is
/// closed: with 1000, or with 1011 if it threw.
///
/// Lifetime:  a server's socket ends after its handler or the close callback. A client's socket is
///            dropped by its owner, before the loop ends: it is then closed with 1000. Only the
///            object that sender() returns may be used by other threads: elsewhere, the functions
///            that send, close or subscribe throw std::logic_error.
class SKUA_API WebSocket final {
 public:
  explicit WebSocket(ws::Socket& socket SKUA_LIFETIMEBOUND) noexcept : socket_(&socket) {}
  WebSocket(WebSocket&&) noexcept = default;
  WebSocket& operator=(WebSocket&&) noexcept = default;
  WebSocket(const WebSocket&) = delete;
  WebSocket& operator=(const WebSocket&) = delete;
  ~WebSocket() = default;

  /// Receives the next message; nullopt once the socket is closed: then close_reason() says why.
  /// For coroutines; one call at a time.
  ///
  /// Waits for: a whole message. While one waits to be received, nothing more is read.
  /// Ends with: on a server, the handler dropped if it goes on waiting after the connection is
  ///            gone, or for longer than WebSocketOptions::close after the end.
  /// Lifetime:  the message's views are valid until the next receive().
  [[nodiscard]] detail::MessageAwaiter receive() noexcept {
    return detail::MessageAwaiter(*socket_);
  }

  /// Sends a text, which must be UTF-8. If awaited, it returns whether the message was accepted
  /// (false: the socket is closed, or SlowPeer dropped it). If not awaited, it does not wait.
  ///
  /// Waits for: room in the queue, if SlowPeer is Wait.
  detail::SendAwaiter send(std::string_view text);
  /// Sends a binary message, like send() for text.
  detail::SendAwaiter send(Bytes bytes);
  template <class T>
    requires(!std::is_convertible_v<T &&, std::string_view> && !std::is_convertible_v<T &&, Bytes>)
  detail::SendAwaiter send(T&&) {
    static_assert(detail::never<T>,
                  "send() takes text or bytes: message->text, std::to_string(number), "
                  "std::as_bytes(std::span(values))");
    return send(std::string_view());
  }
  template <std::same_as<MessageType> T>
  detail::SendAwaiter send(std::string_view text, T) {
    static_assert(detail::never<T>,
                  "a message of bytes is binary, one of text is not: send(skua::bytes(text))");
    return send(text);
  }
  /// Sends a ping with at most 125 bytes, which the peer sends back. It goes out after the messages
  /// that are queued.
  void ping(std::string_view payload = {});
  /// Sets a callback for each ping and pong of the peer, called until the handler has ended or the
  /// socket is dropped. Pings are still answered. An exception is logged, and closes with 1011.
  void on_control(std::function<void(WebSocketControl, std::string_view payload)> call);
  /// Starts the closing handshake: nothing can be sent after it, and messages that arrive before
  /// the peer's answer are dropped. Later calls do nothing.
  ///
  /// Ends with: std::invalid_argument for a code that must not be sent (all but 1000 to 1003, 1007
  ///            to 1014 and 3000 to 4999), for a reason of more than 123 bytes.
  void close(CloseCode code = CloseCode::Normal, std::string_view reason = {});

  [[nodiscard]] bool is_open() const noexcept;
  /// Returns why the socket was closed, once it is.
  [[nodiscard]] const CloseReason& close_reason() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the negotiated subprotocol, or an empty text.
  [[nodiscard]] std::string_view subprotocol() const noexcept SKUA_LIFETIMEBOUND;
  /// Reports whether compression was negotiated.
  [[nodiscard]] bool is_compressed() const noexcept;
  /// Returns the number of sent bytes that the peer has not taken yet.
  [[nodiscard]] std::uint64_t queued_bytes() const noexcept;

  // Topics are for servers: subscribe() and publish() on a client's socket throw std::logic_error.

  /// Subscribes this socket to a topic.
  void subscribe(std::string_view topic);
  /// Ends a subscription; does nothing if there is none.
  void unsubscribe(std::string_view topic);
  /// Sends a text to all sockets of this server that are subscribed to the topic, on all threads,
  /// including this one if it is. It is framed and compressed once.
  void publish(std::string_view topic, std::string_view text, MessageType type = MessageType::Text);

  /// Returns a handle that other threads can keep and use.
  [[nodiscard]] WebSocketSender sender();

  /// Returns the values that guards attached to the request, and those you keep with the socket.
  [[nodiscard]] Attachments& attachments() SKUA_LIFETIMEBOUND;

 private:
  std::unique_ptr<ws::Socket, detail::SocketRelease> socket_;
};

/// A WebSocket handler with callbacks instead of a coroutine. All sockets of a route share them,
/// and several threads call them at once; keep the data of one socket in its attachments(). An
/// exception closes the socket with 1011. Empty callbacks are not called.
struct WebSocketCallbacks {
  /// The socket is open. The request is valid during the call only.
  std::function<void(WebSocket&, Request&)> open{};
  /// A message has arrived; its views are valid during the call.
  std::function<void(WebSocket&, Message)> message{};
  /// The peer has taken most of the queued data.
  std::function<void(WebSocket&)> drain{};
  /// The socket is closed. Always the last call, if the socket was opened.
  std::function<void(WebSocket&, const CloseReason&)> close{};
};

}  // namespace skua
