// SPDX-License-Identifier: MIT
// The public Client and WebSocketRequest: check their arguments and turn them into tasks.
#include "skua/client.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "client/core.hpp"
#include "client/problem.hpp"
#include "client/wire/websocket_connection.hpp"
#include "client/wire/websocket_opening.hpp"
#include "skua/credentials.hpp"
#include "skua/url.hpp"
#include "ws/client_handshake.hpp"
#include "ws/handshake_key.hpp"

namespace skua {
namespace {

using client::Core;
using client::WebSocketConnection;

/// An open WebSocket that has not processed any frames yet.
struct Opened {
  std::shared_ptr<WebSocketConnection> connection{};
  std::string received{};
  std::optional<Error> receive_end{};

  void start() { connection->start(std::move(received), receive_end); }
};

/// A checked WebSocket URL.
struct Target {
  Url url{};
  client::Origin origin{};
  std::string step{};  // for problems
};

Result<Target, Problem> read_url(const std::string& text, const Core& core) {
  const std::string step = "open a WebSocket at '" + client::without_userinfo(text) + "'";
  auto url = Url::parse_lenient(text);
  if (url && core.base_url.has_scheme()) url = core.base_url.resolve(*url);
  if (!url) return client::not_a_url(step, text, url.error());
  const std::string_view scheme = url->scheme();
  if (scheme != "ws" && scheme != "wss" && scheme != "http" && scheme != "https") {
    return client::could_not(step, Errc::MalformedUrl, "it has to begin with ws:// or wss://");
  }
  if (url->host().empty()) return client::could_not(step, Errc::MalformedUrl, "it has no host");
  if (url->has_fragment()) {  // RFC 6455 §3
    return client::could_not(step, Errc::MalformedUrl, "a WebSocket has no fragment (#)");
  }
  Target target{.url = *url, .origin = client::origin_of(*url, core.options.unix_socket)};
  Url shown = *url;  // without a password
  static_cast<void>(shown.set_userinfo({}));
  target.step = "open a WebSocket at " + shown.to_string();
  return target;
}

/// Adds User-Agent and Authorization, unless they are already set.
Result<void> add_usual_fields(FieldLines& fields, const Url& url, std::string_view user_agent) {
  if (!user_agent.empty() && !fields.find("User-Agent")) fields.add("User-Agent", user_agent);
  if (!url.has_userinfo() || fields.find("Authorization")) return {};
  const Result<std::string> field = BasicCredentials{url.user(), url.password()}.field();
  if (!field) return field.error();
  fields.add("Authorization", *field);
  return {};
}

Task<Result<Opened, Problem>> open_socket(std::shared_ptr<Core> core, std::string text,
                                          FieldLines fields, WebSocketOptions options) {
  Result<Target, Problem> target = read_url(text, *core);
  if (!target) co_return target.error();
  if (auto added = add_usual_fields(fields, target->url, core->options.user_agent); !added) {
    co_return client::could_not(target->step, added.error());
  }
  Result<client::ConnectOptions, Problem> connecting = core->connect_options(target->origin, true);
  if (!connecting) co_return connecting.error();
  Result<net::HeldStream, Problem> stream =
      co_await core->connector.connect(target->origin, *connecting);
  if (!stream) co_return stream.error();

  Result<std::string> key = ws::make_key();
  if (!key) co_return client::could_not(target->step, key.error());
  ws::ClientHandshake handshake(target->url, fields, options, *key);
  client::WebSocketOpening opening(core->loop, *std::move(stream), handshake);
  Result<void, Problem> ran = co_await opening.run(target->step, core->options.timeouts.head);
  if (!ran) co_return std::move(ran).error();
  Opened opened;
  opened.received = std::move(opening.received());
  opened.receive_end = opening.receive_end();
  opened.connection = std::make_shared<WebSocketConnection>(std::move(core), opening.take_stream(),
                                                            options, handshake.take_agreement());
  co_return std::move(opened);
}

Task<Result<WebSocket, Problem>> hold_socket(Task<Result<Opened, Problem>> opening) {
  Result<Opened, Problem> opened = co_await std::move(opening);
  if (!opened) co_return opened.error();
  WebSocket socket = opened->connection->hold();
  opened->start();
  co_return std::move(socket);
}

/// Detaches the callbacks when the task that runs them ends.
class Calling {
 public:
  explicit Calling(WebSocketConnection& connection) noexcept : connection_(connection) {}
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;
  ~Calling() { connection_.forget_callbacks(); }

 private:
  WebSocketConnection& connection_;
};

Task<Result<CloseReason, Problem>> run_socket(Task<Result<Opened, Problem>> opening,
                                              const ClientWebSocketCallbacks& callbacks) {
  Result<Opened, Problem> opened = co_await std::move(opening);
  if (!opened) co_return opened.error();
  WebSocketConnection& connection = *opened->connection;
  WebSocket socket = connection.hold();
  connection.listen(socket, callbacks);
  const Calling calling(connection);
  if (callbacks.open) connection.guarded([&] { callbacks.open(socket); });
  opened->start();
  while (!connection.socket().is_closed()) co_await connection.ended().wait();
  if (connection.exception()) std::rethrow_exception(connection.exception());
  co_return connection.socket().reason();
}

bool belongs_to_handshake(std::string_view name) noexcept {
  constexpr std::string_view prefix = "Sec-WebSocket-";
  return ascii::equals_ignoring_case(name, "Upgrade") ||
         ascii::equals_ignoring_case(name, "Connection") ||
         ascii::equals_ignoring_case(name.substr(0, prefix.size()), prefix);
}

void check(const WebSocketOptions& options) {
  for (const std::string& name : options.subprotocols) {
    if (!ascii::is_token_text(name)) {
      throw std::invalid_argument("WebSocketOptions::subprotocols: each has to be a token");
    }
  }
}

}  // namespace

WebSocketRequest::WebSocketRequest(std::shared_ptr<client::Core> core, std::string_view url)
    : core_(std::move(core)), url_(url), options_(core_->options.websocket) {
  check(options_);
}

WebSocketRequest& WebSocketRequest::header(std::string_view name, std::string_view value) & {
  if (belongs_to_handshake(name)) {
    throw std::invalid_argument("WebSocketRequest::header: this field belongs to the handshake");
  }
  fields_.add(name, value);
  return *this;
}

WebSocketRequest& WebSocketRequest::basic_auth(std::string_view user, std::string_view password) & {
  const BasicCredentials credentials{std::string(user), std::string(password)};
  fields_.set("Authorization", credentials.field().value());
  return *this;
}

WebSocketRequest& WebSocketRequest::bearer(std::string_view token) & {
  fields_.set("Authorization", "Bearer " + std::string(token));
  return *this;
}

WebSocketRequest& WebSocketRequest::subprotocol(std::string_view name) & {
  options_.subprotocols.emplace_back(name);
  check(options_);
  return *this;
}

WebSocketRequest& WebSocketRequest::options(const WebSocketOptions& options) & {
  check(options);
  options_ = options;
  return *this;
}

Task<Result<WebSocket, Problem>> WebSocketRequest::open() && {
  return hold_socket(
      open_socket(std::move(core_), std::move(url_), std::move(fields_), std::move(options_)));
}

Task<Result<CloseReason, Problem>> WebSocketRequest::run(
    const ClientWebSocketCallbacks& callbacks) && {
  return run_socket(
      open_socket(std::move(core_), std::move(url_), std::move(fields_), std::move(options_)),
      callbacks);
}

namespace {

// Requests of another thread would wait for a loop that does not know of them.
void need_own_thread(const Core& core) {
  core.loop.thread().need(
      "skua::Client: it belongs to the thread that made it: make one for each thread, or use a "
      "skua::BackgroundClient, which any thread may call");
}

}  // namespace

Client::Client(ClientOptions options)
    : core_(std::make_shared<Core>(loop::Loop::current(), std::move(options))) {}

Client::~Client() { core_->break_off(); }

ClientRequest Client::request(Method method, std::string_view url) {
  if (method == Method::Other) {
    throw std::invalid_argument(
        "Client::request: Method::Other has no name; pass the method as text");
  }
  need_own_thread(*core_);
  return {core_, method, url};
}

ClientRequest Client::request(std::string_view method, std::string_view url) {
  need_own_thread(*core_);
  return {core_, method, url};
}

CookieJar& Client::cookie_jar() noexcept { return core_->jar; }

WebSocketRequest Client::websocket(std::string_view url) {
  need_own_thread(*core_);
  return {core_, url};
}

Task<> Client::close() {
  need_own_thread(*core_);
  return Core::finish(core_);
}

}  // namespace skua
