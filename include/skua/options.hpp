// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"
#include "skua/tls.hpp"
#include "skua/version.hpp"

namespace skua {

/// How long a server waits. Zero ends a wait at once; Duration::max() never ends it.
struct Timeouts {
  Duration handshake = 10s;   ///< for that of TLS: closed
  Duration head = 10s;        ///< for a whole head, from its first byte: 408
  Duration body = 30s;        ///< between two pieces of a body: 408
  Duration body_grace = 10s;  ///< after this a body has to keep Limits::body_bytes_per_second: 408
  Duration write = 30s;       ///< for a peer that takes nothing of a response: closed
  Duration handler =
      Duration::max();        ///< for the response of a handler that waits: 503, and it is dropped
  Duration half_closed = 5s;  ///< for a handler that waits, once the peer has closed its side and
                              ///< nothing is sent to it: dropped, and closed
  Duration idle = 60s;        ///< between two requests of a connection: closed
  Duration idle_under_pressure =
      15s;                       ///< instead of idle, when 80 % of Limits::connections are open
  Duration connection_age = 1h;  ///< then the next response says `Connection: close`; +-10 % jitter
  Duration linger = 2s;          ///< for the peer's last bytes, after we closed our side
  Duration drain_grace = 50ms;   ///< for requests on their way when idle connections are drained
  Duration shutdown = 30s;       ///< for requests in progress, when the server is drained
};

/// How much a server takes from a peer; each excess has its own status.
struct Limits {
  std::size_t target_bytes = 8_KiB;       ///< of a request target: 414
  std::size_t field_line_bytes = 16_KiB;  ///< of one field line: 431
  std::size_t head_bytes = 64_KiB;        ///< of a whole head: 431
  std::uint16_t fields = 128;             ///< field lines, cookie crumbs counted: 431
  std::size_t body_bytes = 10_MiB;        ///< of a body that is kept for a plain handler: 413
  std::uint64_t streamed_body_bytes =
      std::numeric_limits<std::uint64_t>::max();  ///< of a body that a coroutine reads: 413
  std::size_t body_bytes_per_second = 1_KiB;  ///< the slowest body, after Timeouts::body_grace: 408
  std::size_t connection_body_bytes = 16_MiB;  ///< of bodies kept whole, of all requests of an
                                               ///< HTTP/2 connection: one waits for another
  std::size_t server_body_bytes = 64_MiB;      ///< of bodies kept whole, over all connections: 503
  std::size_t chunk_extension_bytes = 4_KiB;   ///< in all chunks of a body: 400
  std::size_t trailer_bytes = 8_KiB;           ///< of a trailer section: 431
  std::uint16_t trailer_fields = 64;           ///< field lines of a trailer section: 431
  std::size_t unread_body_bytes =
      256_KiB;  ///< of a body nobody wants, read to keep the connection; else closed
  std::size_t output_bytes = 1_MiB;   ///< responses waiting for a slow peer: reading stops
  std::size_t stream_bytes = 64_KiB;  ///< of a streamed body, either way, that the other side has
                                      ///< not taken: it has to wait
  std::uint32_t http2_streams = 100;  ///< requests at once of an HTTP/2 connection: refused
  std::size_t connections =
      65'536;  ///< open at once, over all threads: accepting pauses. Less where the process may not
               ///< open as many files; a reserve is kept for files and lookups
};

/// One response that was sent, or begun, as hooks and access logs see it. Views live during the
/// call only.
struct RequestRecord {
  std::string_view peer{};        ///< `192.0.2.1:4711`
  std::string_view target{};      ///< as received; empty when the request line could not be parsed
  std::string_view referer{};     ///< as received
  std::string_view user_agent{};  ///< as received
  Method method = Method::Get;
  Version version = Version::Http11;
  Status status = Status::Ok;
  std::uint64_t body_bytes = 0;   ///< content that was sent, without its framing
  bool is_cut = false;            ///< the response was not sent whole: the peer left, or a stream
                                  ///< failed. One that has no end is cut by whoever leaves
  Duration duration{};            ///< from the end of the request's head to that of the response
  std::string_view route{};       ///< the pattern that the path matched, `/users/{id}`; or empty
  std::string_view request_id{};  ///< given by request_id(), where that is used
  std::size_t head_bytes = 0;     ///< of the request's head; HTTP/2: of its fields, decompressed
  Errc error = Errc::None;        ///< why the request was refused, if it was malformed
};

enum class LogLevel : std::uint8_t { Debug, Info, Warning, Error };

/// Functions of yours that a server calls on its threads, several at once when it has several
/// threads. What they throw is caught and logged. Empty ones cost nothing.
struct Hooks {
  std::function<void(const RequestRecord&)> on_response{};  ///< after a response was sent, or cut
  std::function<void(std::string_view peer)> on_connection_open{};  ///< after accept
  std::function<void()> on_connection_close{};  ///< the system no longer knows who it was
  std::function<void(LogLevel, std::string_view)>
      log{};  ///< what happened that has no peer to tell; the library prints nothing itself
};

/// Everything a server can be told; the defaults are safe for the open Internet.
struct ServerOptions {
  std::string host = "0.0.0.0";  ///< a numeric address, `localhost`, or `unix:/path`
  std::uint16_t port = 8080;     ///< 0 takes any free port; Server::port() tells which
  unsigned threads = 0;          ///< 0 means one per core
  BackendChoice backend = BackendChoice::Auto;
  unsigned offload_threads = 4;  ///< for calls of offload(), of all workers; started when needed
  std::size_t offload_queue = 1024;  ///< calls that wait for such a thread; more are refused: 503
  TlsOptions tls{};
  bool raise_open_files = true;  ///< the soft limit on open files (RLIMIT_NOFILE) to the hard one
  bool http2 = true;  ///< for who agrees on it with TLS, or begins with it (prior knowledge)
  std::string server_name = "skua";  ///< the Server field, one line; empty leaves it out
  Timeouts timeouts{};
  Limits limits{};
  Hooks hooks{};
};

}  // namespace skua
