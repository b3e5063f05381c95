// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/client_metrics.hpp"
#include "skua/client_options.hpp"
#include "skua/config.hpp"
#include "skua/field_lines.hpp"
#include "skua/pattern.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/router.hpp"
#include "skua/task.hpp"
#include "skua/tls.hpp"
#include "skua/trusted_proxies.hpp"
#include "skua/upstream.hpp"

namespace skua {

namespace proxy {
class Upstream;
}  // namespace proxy

/// The version of the PROXY protocol that connections to an upstream server begin with.
enum class ProxyProtocol : std::uint8_t { Off, V1, V2 };

/// How long a reverse proxy waits for an upstream server, and what the client gets then.
struct ReverseProxyTimeouts {
  Duration connect = 5s;    ///< for an address, a connection and TLS, each: 504
  Duration response = 60s;  ///< for the head of the response, once the request is sent: 504
  Duration idle = 5min;     ///< for the next bytes of content, in either direction: cut off
  Duration tunnel = 1h;     ///< for the next bytes of a WebSocket, in either direction: cut off
  /// Then an unused connection is closed. Shorter than the 5 s after which Node.js closes one: a
  /// request that is not idempotent could meet the end of its connection, and fail.
  Duration idle_connection = 4s;
};

/// A request as a reverse proxy sends it to the upstream server. Its method, its content and the
/// fields of the connection are not for hooks to change.
struct UpstreamRequest {
  std::string target{};  ///< the path and the query
  FieldLines fields{};   ///< Host among them, unless it is that of the URL
};

/// Options of a reverse proxy; the defaults do not believe what clients say about themselves.
struct ReverseProxyOptions {
  /// Sends the Host of the client's request; otherwise that of the upstream URL.
  bool keeps_host = true;
  /// How the upstream server is told who the client is. If ServerOptions::trusted_proxies believes
  /// this kind of fields of a request, it gets their list with the peer added. Otherwise such
  /// fields are removed, and it is told what Request::client_address(), scheme() and
  /// requested_host() return.
  ForwardedFields forwarded = ForwardedFields::XForwarded;
  /// Adds to the fields of either kind that the request of any peer has. Only for servers
  /// that nobody but another proxy can reach.
  bool trusts_forwarded = false;
  /// Begins connections with a PROXY header, before TLS, that names Request::client_address() and
  /// the address that the client has connected to; in version 2, also whether it uses TLS. Only
  /// requests with the same header share a connection, so each client has connections of its own.
  ProxyProtocol proxy_protocol = ProxyProtocol::Off;
  /// At once, per thread and server; further requests wait for one, and get 504.
  std::size_t connections = 1024;
  /// WebSockets use HTTP/2 if the upstream server permits it (RFC 8441), else HTTP/1.1.
  HttpVersions versions = HttpVersions::Any;
  ClientTlsOptions tls{};             ///< for https://
  std::vector<HostOverride> hosts{};  ///< addresses of names, used instead of name resolution
  ReverseProxyTimeouts timeouts{};
  /// Counts its connections and requests, without the checks and copies of an Upstream; see
  /// collect_clients().
  std::optional<ClientMetrics> metrics{};
  /// When the server drains, WebSockets stay open until its deadline. Otherwise both sides get a
  /// close frame with 1001, at a time within Timeouts::websocket_spread.
  bool tunnels_outlast_drains = false;
  /// Called before a request is passed on; may change what is sent, or answer in its place. If it
  /// throws, or leaves a target or fields that a server could read in two ways (a malformed path, a
  /// second Host, a field that frames the message or is about the connection), the client gets an
  /// error, and the upstream server nothing.
  std::function<std::optional<Response>(const Request&, UpstreamRequest&)> on_request{};
  /// Called with each response of the upstream server before its content is passed on; may change
  /// its status and fields, or replace its content. Not called for those of the proxy itself, such
  /// as 502. A WebSocket opens only if the status stays.
  std::function<void(const Request&, Response&)> on_response{};
};

/// A handler that passes requests on to another server, and its responses back:
///
/// ```cpp
/// router.any("/{path...}", skua::ReverseProxy("http://127.0.0.1:3000"));
/// skua::reverse_proxy(router, "/api", "http://127.0.0.1:4000/v2");
/// ```
/// If the URL has a path, it replaces the literal beginning of the pattern, so that `/api/users`
/// becomes `/v2/users`, and with `http://127.0.0.1:4000/` becomes `/users`. Without one, not even a
/// slash, the path is passed on as it is. Dot segments, also encoded ones, are resolved before, and
/// then empty segments are removed; without any, the bytes are passed on as sent. A path with an
/// encoded slash (`%2F`) or backslash is passed on if it begins with the literal beginning of the
/// pattern, which ends in `{path...}`, if nothing else is registered below, and if no middleware
/// on the way looks at the path (see Router::use()); else it gets 400. Request::path() is then the
/// path as sent.
///
/// Content is streamed in both directions at once, at the speed of the slower side, and trailers
/// and interim responses are passed on; so is gRPC, whose `grpc-timeout` is obeyed. WebSockets are
/// tunnelled. Each thread has its own connections to the upstream server. If a reused connection
/// turns out to be dead, a request whose method is idempotent is repeated, and so is any request
/// that an HTTP/2 server has refused to process, unless more than 16 KiB of its content are on
/// their way.
///
/// Fields of the connection are removed (RFC 9110 §7.6.1), and so is everything that begins with
/// `Proxy-`; Via is added. A request that has passed here before gets 508. An upstream server that
/// cannot be reached, or whose answer is malformed, is reported as 502, and one that takes too long
/// as 504; the reason goes to Hooks::log. After the head, either ends the response, so that the
/// client can tell that it is incomplete.
class SKUA_API ReverseProxy final {
 public:
  /// `upstream` is an http://, https:// or h2c:// URL, or `unix:/path/of/socket`; h2c:// is HTTP/2
  /// without TLS, with prior knowledge.
  ///
  /// Ends with: std::invalid_argument if it is anything else, has a user, a query or a fragment, or
  ///            if the TLS options cannot be used.
  explicit ReverseProxy(std::string_view upstream, const ReverseProxyOptions& options = {});
  /// Sends each request to one of a group of servers.
  ///
  /// Ends with: std::invalid_argument if the TLS options cannot be used.
  explicit ReverseProxy(const Upstream& upstream, const ReverseProxyOptions& options = {});

  /// `rest` is the end of the path, which is kept if the URL has a path of its own.
  Task<Response> operator()(Request& request, std::string_view rest) const;

  /// It takes paths that are not canonical.
  static constexpr bool passes_path_on = true;

 private:
  std::shared_ptr<const proxy::Upstream> upstream_;  // shared by the copies of this handler
};

/// Passes requests for a path, and all paths below it, to another server.
///
/// Ends with: see ReverseProxy; std::invalid_argument if the route exists already.
SKUA_API void reverse_proxy(Router& router, Prefix prefix, std::string_view upstream,
                            const ReverseProxyOptions& options = {},
                            Router::Where where = Router::Where::current());
SKUA_API void reverse_proxy(Router& router, Prefix prefix, const Upstream& upstream,
                            const ReverseProxyOptions& options = {},
                            Router::Where where = Router::Where::current());

}  // namespace skua
