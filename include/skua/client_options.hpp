// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/client_metrics.hpp"
#include "skua/tls.hpp"
#include "skua/websocket.hpp"

namespace skua {

/// A timeout that never expires.
inline constexpr Duration no_time_limit = Duration::max();

/// How long a client waits in each step. Zero means not at all.
struct ClientTimeouts {
  Duration resolve = 5s;           ///< for the addresses of a name
  Duration connect = 10s;          ///< for a connection to one of them
  Duration handshake = 10s;        ///< for the TLS handshake
  Duration queue = 30s;            ///< for a free connection, if all are in use
  Duration head = 30s;             ///< for the head of the response, once the request is sent
  Duration idle = 30s;             ///< for the next bytes of content, in either direction
  Duration continue_wait = 1s;     ///< for 100 (Continue); then content is sent anyway
  Duration idle_connection = 50s;  ///< then an unused connection is closed
};

/// Limits of a response. Past one, unless it says otherwise, the response and its connection end in
/// an error.
struct ClientLimits {
  std::size_t head_bytes = 64_KiB;        ///< of each head; else HeadTooLong
  std::uint16_t fields = 256;             ///< of each head; else TooManyFields
  std::uint64_t body_bytes = UINT64_MAX;  ///< of content, before decoding; else BodyTooLong
  std::uint64_t decoded_bytes = 16_GiB;   ///< of content, after decoding; else BodyTooLong
  std::uint64_t decoded_ratio = 100;      ///< decoded bytes per received byte, past the first MiB
  std::size_t text_bytes = 8_MiB;         ///< of content that is read as one text; else BodyTooLong
  /// The content of an HTTP/2 response that nobody has read yet; the server waits at this limit. It
  /// grows, by at most 4 MiB for all responses of a connection, if it slows a response down.
  std::size_t stream_bytes = 2_MiB;
  std::size_t field_line_bytes = 64_KiB;  ///< of a name and its value; else FieldTooLong
};

/// Which versions of HTTP a client speaks.
enum class HttpVersions : std::uint8_t {
  Any,    ///< HTTP/2 if negotiated by TLS, else HTTP/1.1
  Http1,  ///< HTTP/1.1
  Http2,  ///< HTTP/2 only; on http:// with prior knowledge
};

/// Which addresses a client connects to, of servers and of proxies.
enum class IpVersions : std::uint8_t { Any, Ipv4, Ipv6 };

/// How far redirects are followed.
struct RedirectOptions {
  unsigned limit = 10;               ///< requests after the first; zero follows none
  bool allow_https_to_http = false;  ///< follow from an encrypted connection to a plain one
  bool allow_userinfo = false;       ///< follow to `http://name@host/`, without sending the name
};

/// The proxy that requests and WebSockets go through.
struct ProxyOptions {
  /// `http://user:password@host:port`, or https:// for TLS to the proxy itself; socks5:// for
  /// SOCKS, where names are resolved here, or socks5h://, where the proxy resolves them; empty:
  /// none.
  std::string url{};
  /// Hosts reached without the proxy, separated by commas: names, which include their subdomains,
  /// addresses, `10.0.0.0/8`, each with an optional port; `*` is all.
  std::string except{};
  /// Reads http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY from the environment if `url` is empty;
  /// `except` replaces NO_PROXY if it is not empty.
  bool from_environment = false;
};

/// An address for a host, used instead of name resolution.
struct HostOverride {
  std::string host{};
  std::uint16_t port = 0;  ///< zero: any
  std::string address{};   ///< IPv4 or IPv6
};

/// Options of a client; the defaults are safe for the open Internet.
struct ClientOptions {
  std::string base_url{};  ///< base of relative URLs; empty: URLs must be absolute
  /// For a whole request, until its content is read, redirects included.
  Duration timeout = no_time_limit;
  bool cookies = false;  ///< stores cookies in Client::cookie_jar() and sends them
  ClientTimeouts timeouts{};
  ClientLimits limits{};
  RedirectOptions redirects{};
  std::size_t connections_per_host = 8;  ///< at once
  std::size_t connections = 256;         ///< to all hosts together
  HttpVersions versions = HttpVersions::Any;
  bool decompress = true;  ///< asks for gzip, br and zstd if built in, and decodes
  ProxyOptions proxy{};
  std::string unix_socket{};  ///< the path that every connection goes to; empty: TCP
  std::vector<HostOverride> hosts{};
  IpVersions ip_versions = IpVersions::Any;
  /// A network interface (`eth0`) or an address of this machine, from which all TCP connections are
  /// made; empty: the system's choice. An address implies its IP version.
  std::string network_interface{};
  ClientTlsOptions tls{};
  WebSocketOptions websocket{};            ///< defaults of its WebSockets
  std::string user_agent = "skua";         ///< the User-Agent field; empty: none
  std::optional<ClientMetrics> metrics{};  ///< counts what it does; see collect_clients()
  /// Called with exceptions of callbacks that no task awaits, those of ClientRequest::then() and of
  /// BackgroundClient. Empty: Client::close() throws the first of them.
  std::function<void(std::exception_ptr)> on_exception{};
};

}  // namespace skua
