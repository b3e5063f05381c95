// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it says which C++ the others need

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "skua/client_options.hpp"
#include "skua/client_request.hpp"
#include "skua/cookie_jar.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/method.hpp"
#include "skua/task.hpp"
#include "skua/websocket.hpp"

namespace skua {

/// Who is told of a client's WebSocket, for those who prefer callbacks to coroutines. What one
/// throws closes the socket with 1011, and ends the task that runs them. Empty ones are not called.
struct ClientWebSocketCallbacks {
  /// It is open.
  std::function<void(WebSocket&)> open{};
  /// A message, whose views are valid during the call.
  std::function<void(WebSocket&, Message)> message{};
  /// The server has taken most of what waited for it.
  std::function<void(WebSocket&)> drain{};
};

/// A WebSocket that is to be opened, as Client::websocket() makes it:
///
/// ```cpp
/// auto socket = co_await client.websocket("wss://example.com/chat").subprotocol("chat.v1");
/// if (!socket) co_return report(socket.error().text);
/// ```
/// Lifetime:  its client outlives it, and the tasks that it makes.
class WebSocketRequest final {
 public:
  WebSocketRequest(std::shared_ptr<client::Core> core, std::string_view url);

  // Each setter is there twice: for `client.websocket(url).bearer(token)`, and for a request that
  // has a name.

  /// One more field of the request, as `Cookie` or `Origin`.
  ///
  /// Ends with: std::invalid_argument for what is no field line, and for fields that belong to the
  ///            handshake: Upgrade, Connection, Sec-WebSocket-...
  WebSocketRequest& header(std::string_view name, std::string_view value) &;
  WebSocketRequest&& header(std::string_view name, std::string_view value) && {
    return std::move(header(name, value));
  }
  /// Authorization by name and password. RFC 7617
  ///
  /// Ends with: Exception (MalformedChallenge) for a name with a colon and for control characters.
  WebSocketRequest& basic_auth(std::string_view user, std::string_view password) &;
  WebSocketRequest&& basic_auth(std::string_view user, std::string_view password) && {
    return std::move(basic_auth(user, password));
  }
  /// Authorization by a token. RFC 6750
  WebSocketRequest& bearer(std::string_view token) &;
  WebSocketRequest&& bearer(std::string_view token) && { return std::move(bearer(token)); }
  /// One that we speak, the best first; WebSocket::subprotocol() is what the server has chosen.
  ///
  /// Ends with: std::invalid_argument for what is no token, as options().
  WebSocketRequest& subprotocol(std::string_view name) &;
  WebSocketRequest&& subprotocol(std::string_view name) && { return std::move(subprotocol(name)); }
  WebSocketRequest& compression(WebSocketCompression compression) & {
    options_.compression = compression;
    return *this;
  }
  WebSocketRequest&& compression(WebSocketCompression wanted) && {
    return std::move(compression(wanted));
  }
  /// The longest message that is taken from the server, decompressed.
  WebSocketRequest& message_bytes(std::size_t size_bytes) & {
    options_.message_bytes = size_bytes;
    return *this;
  }
  WebSocketRequest&& message_bytes(std::size_t size_bytes) && {
    return std::move(message_bytes(size_bytes));
  }
  /// All options at once, those above included.
  WebSocketRequest& options(const WebSocketOptions& options) &;
  WebSocketRequest&& options(const WebSocketOptions& all) && { return std::move(options(all)); }

  /// Opens it; the same as `co_await` on the request itself.
  ///
  /// Waits for: the name, the connection, TLS, and the server's answer: ClientTimeouts.
  /// Ends with: MalformedUrl; what connecting ends with (NameNotResolved, Refused, TimedOut,
  ///            TlsCertificate, ...); UpgradeRefused where the server opens none. The problem's
  ///            text says which server, which step, and why.
  /// RFC:       6455 §3, §4.1
  [[nodiscard]] Task<Result<WebSocket, Problem>> open() &&;
  auto operator co_await() && { return std::move(*this).open(); }
  template <class Self = WebSocketRequest>
  Task<Result<WebSocket, Problem>> operator co_await() & {
    static_assert(sizeof(Self) == 0,
                  "a request is sent once: co_await std::move(request), or await the expression "
                  "that makes it");
    return std::move(*this).open();
  }
  /// Opens it and calls back until it is closed; the result is why it was.
  ///
  /// Waits for: the end of the socket. Dropping the task closes it.
  /// Ends with: as open(); what a callback throws.
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

/// Talks to servers.
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
/// It keeps connections and uses them again. Lifetime:  for one thread, whose loop outlives it.
/// Destroyed, it ends what then() has begun and breaks off what close() would have waited for;
/// responses and sockets that are held go on.
class Client final {
 public:
  /// Ends with: std::logic_error on a thread that has no loop: see skua::run, or be in a handler;
  ///            std::invalid_argument for options that cannot be: a base URL, a proxy.
  explicit Client(ClientOptions options = {});
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // A request; what is wrong with its URL is told when it is sent. A name and a password in the URL
  // are for that server: see ClientRequest::auth.

  [[nodiscard]] ClientRequest get(std::string_view url) { return request(Method::Get, url); }
  [[nodiscard]] ClientRequest head(std::string_view url) { return request(Method::Head, url); }
  [[nodiscard]] ClientRequest post(std::string_view url) { return request(Method::Post, url); }
  [[nodiscard]] ClientRequest put(std::string_view url) { return request(Method::Put, url); }
  [[nodiscard]] ClientRequest patch(std::string_view url) { return request(Method::Patch, url); }
  /// DELETE, which is a keyword here.
  [[nodiscard]] ClientRequest remove(std::string_view url) { return request(Method::Delete, url); }
  [[nodiscard]] ClientRequest request(Method method, std::string_view url);

  /// A WebSocket of a URL with ws:// or wss:// (http:// and https:// mean the same), or relative to
  /// ClientOptions::base_url. A name and a password in it become a field Authorization.
  [[nodiscard]] WebSocketRequest websocket(std::string_view url);

  /// The cookies that it keeps (ClientOptions::cookies), to be loaded, looked at and saved.
  [[nodiscard]] CookieJar& cookie_jar() noexcept SKUA_LIFETIMEBOUND;

  /// Closes connections that are not in use, and waits for the others.
  ///
  /// Waits for: requests until their response is there; the closing handshakes of sockets that were
  ///            dropped, each at most WebSocketOptions::close. Responses and sockets that the
  ///            program holds are not waited for: their connections close after them.
  /// Ends with: what a callback of ClientRequest::then() has thrown, where no
  ///            ClientOptions::on_exception was told.
  /// Lifetime:  the client may be destroyed meanwhile.
  Task<> close();

 private:
  std::shared_ptr<client::Core> core_;  // with what it has opened
};

}  // namespace skua
