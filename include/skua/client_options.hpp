// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/tls.hpp"
#include "skua/websocket.hpp"

namespace skua {

/// No limit, where a time can be told.
inline constexpr Duration no_time_limit = Duration::max();

/// How long a client waits in each step. Zero leaves no time to wait.
struct ClientTimeouts {
  Duration resolve = 5s;           ///< for the addresses of a name
  Duration connect = 10s;          ///< for a connection to one of them
  Duration handshake = 10s;        ///< for that of TLS
  Duration queue = 30s;            ///< for one of the connections, where all are in use
  Duration head = 30s;             ///< for the head of a response, once the request is sent
  Duration idle = 30s;             ///< for the next bytes of content, in either direction
  Duration continue_wait = 1s;     ///< for 100 (Continue), then content is sent without
  Duration idle_connection = 50s;  ///< a connection that nobody has used for so long is closed
};

/// What a response may cost. Past these it ends in an error, and so does its connection.
struct ClientLimits {
  std::size_t head_bytes = 64_KiB;        ///< of each head; else HeadTooLong
  std::uint16_t fields = 256;             ///< of each head; else TooManyFields
  std::uint64_t body_bytes = UINT64_MAX;  ///< of content, as it is sent; else BodyTooLong
  std::uint64_t decoded_bytes = 16_GiB;   ///< of content that was compressed; else BodyTooLong
  std::uint64_t decoded_ratio = 100;  ///< decoded bytes for each that was sent, past the first MiB
  std::size_t text_bytes = 8_MiB;     ///< of content that is wanted as one text; else BodyTooLong
};

/// Which versions of HTTP a client speaks.
enum class HttpVersions : std::uint8_t {
  Any,    ///< HTTP/2 where TLS agrees on it, else HTTP/1.1
  Http1,  ///< HTTP/1.1
  Http2,  ///< HTTP/2 and nothing else; on http:// without asking (prior knowledge)
};

/// How far redirects are followed.
struct RedirectOptions {
  unsigned limit = 10;               ///< requests behind the first; zero follows none
  bool allow_https_to_http = false;  ///< follow from an encrypted connection to one that is not
};

/// Through whom requests go.
struct ProxyOptions {
  /// `http://user:password@host:port`, or https:// for TLS to the proxy itself; empty: none.
  std::string url{};
  /// Hosts that are reached without it, with commas between: names with all below them, addresses,
  /// `10.0.0.0/8`, each perhaps with a port; `*` is all.
  std::string except{};
  /// Takes all of them from http_proxy, HTTPS_PROXY, ALL_PROXY and NO_PROXY, where `url` is empty;
  /// `except` stands in place of the last of these, where it is not.
  bool from_environment = false;
};

/// An address for a host, instead of what its name says.
struct HostOverride {
  std::string host{};
  std::uint16_t port = 0;  ///< zero: any
  std::string address{};   ///< of IPv4 or IPv6
};

/// Everything a client can be told; the defaults are safe for the open Internet.
struct ClientOptions {
  std::string base_url{};  ///< what the URLs of requests are relative to; empty: they are whole
  /// For a request from its beginning until its content is read, redirects and all.
  Duration timeout = no_time_limit;
  bool cookies = false;  ///< keeps cookies in Client::cookie_jar(), and sends them
  ClientTimeouts timeouts{};
  ClientLimits limits{};
  RedirectOptions redirects{};
  std::size_t connections_per_host = 8;  ///< at once
  std::size_t connections = 256;         ///< to all hosts together
  HttpVersions versions = HttpVersions::Any;
  bool decompress = true;  ///< asks for gzip, br and zstd where this build has them, and decodes
  ProxyOptions proxy{};
  std::string unix_socket{};  ///< every connection goes to this path; empty: TCP
  std::vector<HostOverride> hosts{};
  ClientTlsOptions tls{};
  WebSocketOptions websocket{};     ///< of all its WebSockets, where a request says nothing else
  std::string user_agent = "skua";  ///< the User-Agent field, one line; empty leaves it out
  /// Told what a callback has thrown that nobody awaits: one of ClientRequest::then() or of
  /// BackgroundClient. Empty: Client::close() throws the first of them.
  std::function<void(std::exception_ptr)> on_exception{};
};

}  // namespace skua
