// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it checks the C++ version

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "skua/client_options.hpp"
#include "skua/client_request.hpp"
#include "skua/config.hpp"
#include "skua/cookie_jar.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/mistakes.hpp"
#include "skua/task.hpp"
#include "skua/websocket.hpp"

namespace skua {

/// Callbacks of a client's WebSocket, for programs that prefer them to coroutines. An exception
/// closes the socket with 1011 and ends the task that runs them. Empty ones are not called.
struct ClientWebSocketCallbacks {
  /// The socket is open.
  std::function<void(WebSocket&)> open{};
  /// A message arrived; its views are valid during the call.
  std::function<void(WebSocket&, Message)> message{};
  /// Most of the queued data was sent.
  std::function<void(WebSocket&)> drain{};
};

/// A WebSocket to be opened; see Client::websocket():
///
/// ```cpp
/// auto socket = co_await client.websocket("wss://example.com/chat").subprotocol("chat.v1");
/// if (!socket) co_return report(socket.error().text);
/// ```
/// Lifetime:  the client outlives the request and its tasks.
class SKUA_API WebSocketRequest final {
 public:
  WebSocketRequest(std::shared_ptr<client::Core> core, std::string_view url);

  // Each setter has two overloads: for `client.websocket(url).bearer(token)`, and for a named
  // request.

  /// Adds a field to the request, e.g. `Cookie` or `Origin`.
  ///
  /// Ends with: std::invalid_argument for a malformed field, and for fields of the handshake:
  ///            Upgrade, Connection, Sec-WebSocket-...
  WebSocketRequest& header(std::string_view name, std::string_view value) &;
  WebSocketRequest&& header(std::string_view name, std::string_view value) && {
    return std::move(header(name, value));
  }
  template <detail::NotText T>
  WebSocketRequest&& header(std::string_view, const T&) {
    detail::need_text<T>();
    return std::move(*this);
  }
  /// Sends a user name and password (Basic). RFC 7617
  ///
  /// Ends with: Exception(MalformedChallenge) for a name with a colon, or for control characters.
  WebSocketRequest& basic_auth(std::string_view user, std::string_view password) &;
  WebSocketRequest&& basic_auth(std::string_view user, std::string_view password) && {
    return std::move(basic_auth(user, password));
  }
  /// Sends a bearer token. RFC 6750
  WebSocketRequest& bearer(std::string_view token) &;
  WebSocketRequest&& bearer(std::string_view token) && { return std::move(bearer(token)); }
  /// Offers a subprotocol, the best first; WebSocket::subprotocol() is the one the server chose.
  ///
  /// Ends with: std::invalid_argument if the name is not a token; so does options().
  WebSocketRequest& subprotocol(std::string_view name) &;
  WebSocketRequest&& subprotocol(std::string_view name) && { return std::move(subprotocol(name)); }
  /// Sets how messages are compressed, if the server agrees.
  WebSocketRequest& compression(WebSocketCompression compression) & {
    options_.compression = compression;
    return *this;
  }
  WebSocketRequest&& compression(WebSocketCompression wanted) && {
    return std::move(compression(wanted));
  }
  /// Sets the size limit of received messages, after decompression.
  WebSocketRequest& message_bytes(std::size_t size_bytes) & {
    options_.message_bytes = size_bytes;
    return *this;
  }
  WebSocketRequest&& message_bytes(std::size_t size_bytes) && {
    return std::move(message_bytes(size_bytes));
  }
  /// Sets all options at once, including those above.
  WebSocketRequest& options(const WebSocketOptions& options) &;
  WebSocketRequest&& options(const WebSocketOptions& all) && { return std::move(options(all)); }

  /// Opens the WebSocket; so does `co_await` on the request itself.
  ///
  /// Waits for: name resolution, the connection, TLS, and the response: ClientTimeouts.
  /// Ends with: MalformedUrl; connection errors (NameNotResolved, Refused, TimedOut,
  ///            TlsCertificate, ...); UpgradeRefused if the server refuses. The problem's text
  ///            names the server, the step, and the reason.
  /// RFC:       6455 §3, §4.1
  [[nodiscard]] Task<Result<WebSocket, Problem>> open() &&;
  auto operator co_await() && { return std::move(*this).open(); }
  template <class Self = WebSocketRequest>
  Task<Result<WebSocket, Problem>> operator co_await() & {
    detail::need_move<Self>();
    return std::move(*this).open();
  }
  /// Opens the WebSocket, runs the callbacks until it is closed, and returns the reason.
  ///
  /// Waits for: the socket to close. Dropping the task closes it.
  /// Ends with: the errors of open(); what a callback throws.
  /// Lifetime:  the callbacks outlive the task.
  [[nodiscard]] Task<Result<CloseReason, Problem>> run(
      const ClientWebSocketCallbacks& callbacks) &&;
  Task<Result<CloseReason, Problem>> run(ClientWebSocketCallbacks&& callbacks) && = delete;

 private:
  std::shared_ptr<client::Core> core_;
  std::string url_;
  FieldLines fields_;
  WebSocketOptions options_;
};

/// An HTTP and WebSocket client.
///
/// ```cpp
/// skua::Client client;
/// auto page = co_await client.get("https://example.com/").text();
/// if (page) std::puts(page->c_str());
///
/// auto socket = co_await client.websocket("ws://127.0.0.1:8080/echo");
/// if (!socket) co_return;
/// co_await socket->send("hello");
/// ```
/// It keeps connections alive and reuses them.
/// Ends with: std::logic_error, from each function that makes a request, on any other thread than
///            the one that made it. BackgroundClient is for all threads.
/// Lifetime:  one thread, whose loop outlives it. Destroying it ends what then() has begun, and
///            drops what close() would wait for; responses and sockets that are held go on.
class SKUA_API Client final {
 public:
  /// Ends with: std::logic_error on a thread without a loop (use skua::run, or a handler);
  ///            std::invalid_argument for an invalid base URL, proxy, or host override.
  explicit Client(ClientOptions options = {});
  template <std::convertible_to<std::string_view> T>
  explicit Client(const T&) : Client() {
    static_assert(detail::never<T>,
                  "a client takes options: skua::Client client({.base_url = \"https://...\"})");
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// Makes a GET request; an invalid URL is reported when the request is sent. A user name and
  /// password in the URL are sent to that server as by ClientRequest::auth.

  [[nodiscard]] ClientRequest get(std::string_view url) { return request(Method::Get, url); }
  /// Makes a HEAD request, like get().
  [[nodiscard]] ClientRequest head(std::string_view url) { return request(Method::Head, url); }
  /// Makes a POST request, like get(); ClientRequest::body and its siblings add content.
  [[nodiscard]] ClientRequest post(std::string_view url) { return request(Method::Post, url); }
  /// Makes a PUT request, like post().
  [[nodiscard]] ClientRequest put(std::string_view url) { return request(Method::Put, url); }
  /// Makes a PATCH request, like post().
  [[nodiscard]] ClientRequest patch(std::string_view url) { return request(Method::Patch, url); }
  /// Makes a DELETE request; `delete` is a keyword.
  [[nodiscard]] ClientRequest del(std::string_view url) { return request(Method::Delete, url); }
  /// Makes a request with a method that skua knows, like get().
  ///
  /// Ends with: std::invalid_argument for Method::Other, which has no token.
  [[nodiscard]] ClientRequest request(Method method, std::string_view url);
  /// Makes a request with any method, like get(). One that skua does not know, such as `PURGE`,
  /// is treated as neither safe nor idempotent. RFC 9110 §9.2
  ///
  /// Ends with: std::invalid_argument if it is not a token.
  [[nodiscard]] ClientRequest request(std::string_view method, std::string_view url);

  // Mistakes: content and options as arguments.

  template <class First, class... Rest>
  ClientRequest get(std::string_view url, const First&, const Rest&...) {
    return too_many<First>(url);
  }
  template <class First, class... Rest>
  ClientRequest post(std::string_view url, const First&, const Rest&...) {
    return too_many<First>(url);
  }
  template <class First, class... Rest>
  ClientRequest put(std::string_view url, const First&, const Rest&...) {
    return too_many<First>(url);
  }

  /// Makes a request for a WebSocket at a ws:// or wss:// URL (http:// and https:// work too), or
  /// relative to ClientOptions::base_url. A user name and password in it become Authorization.
  [[nodiscard]] WebSocketRequest websocket(std::string_view url);

  /// The cookie jar (ClientOptions::cookies), to load, inspect and save.
  [[nodiscard]] CookieJar& cookie_jar() noexcept SKUA_LIFETIMEBOUND;

  /// Closes idle connections and waits for the others.
  ///
  /// Waits for: pending requests to get their response; the closing handshakes of dropped sockets,
  ///            each at most WebSocketOptions::close. Responses and sockets that the program holds
  ///            are not waited for: their connections close after them.
  /// Ends with: the first exception of a ClientRequest::then() callback, if there is no
  ///            ClientOptions::on_exception.
  /// Lifetime:  the client may be destroyed meanwhile.
  Task<> close();

 private:
  template <class T>
  ClientRequest too_many(std::string_view url) {
    static_assert(detail::never<T>,
                  "a request is made of its URL, the rest is added to it: "
                  "client.post(url).header(name, value).body(text)");
    return get(url);
  }

  std::shared_ptr<client::Core> core_;  // with everything it has opened
};

}  // namespace skua
