// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "skua/backend.hpp"
#include "skua/bytes.hpp"
#include "skua/error.hpp"
#include "skua/inherited_sockets.hpp"
#include "skua/log_level.hpp"
#include "skua/method.hpp"
#include "skua/status.hpp"
#include "skua/tls.hpp"
#include "skua/version.hpp"

namespace skua {

class Address;
class IpFilter;
class TrustedProxies;
namespace detail {
class Meter;
}

/// How long a server waits, and what happens then. Zero ends a wait at once; Duration::max() never.
struct Timeouts {
  Duration handshake = 10s;   ///< a PROXY header and the TLS handshake, together: closed
  Duration head = 10s;        ///< a whole head, from its first byte: 408
  Duration body = 30s;        ///< between two pieces of a body: 408
  Duration body_grace = 10s;  ///< after this, a body must keep Limits::body_bytes_per_second: 408
  Duration write = 30s;       ///< a peer that takes nothing of a response: closed
  Duration handler =
      Duration::max();        ///< the response of a handler that waits: 503, handler dropped
  Duration half_closed = 5s;  ///< a handler that waits after the peer has closed its side, if
                              ///< nothing is being sent to it: dropped, connection closed
  Duration idle = 75s;        ///< between two requests on a connection: closed. Longer than that of
                              ///< the clients that reuse connections, such as proxies
  Duration idle_under_pressure = 15s;  ///< the same above 80 % of Limits::connections, if that is
                                       ///< shorter. Not for ServerOptions::trusted_proxies
  Duration connection_age = 1h;  ///< then the next response says `Connection: close`; +-10 % jitter
  Duration linger = 2s;          ///< the peer's last bytes, after we have closed our side
  Duration drain_delay = 0s;     ///< before a drain, while the server is no longer ready
  Duration drain_grace = 50ms;   ///< requests in flight when idle connections are drained
  Duration websocket_spread = 0s;  ///< over which a drain closes WebSockets, one after the other
  Duration shutdown = 30s;         ///< requests in progress when the server drains: cancelled
};

/// How much a server takes from a peer, and the status or action beyond that.
struct Limits {
  std::size_t target_bytes = 8_KiB;           ///< a request target: 414
  std::size_t field_line_bytes = 16_KiB;      ///< one field line: 431
  std::size_t head_bytes = 64_KiB;            ///< a whole head: 431
  std::uint16_t fields = 128;                 ///< field lines, including cookie crumbs: 431
  std::size_t connection_head_bytes = 1_MiB;  ///< heads of an HTTP/2 connection's requests that
                                              ///< wait for their handlers: 503
  std::size_t server_head_bytes = 32_MiB;  ///< the same over all connections, beyond `head_bytes`
                                           ///< of each: 503
  std::size_t body_bytes = 10_MiB;         ///< a body kept for a plain handler: 413
  std::uint64_t streamed_body_bytes =
      std::numeric_limits<std::uint64_t>::max();  ///< a body that a coroutine reads: 413
  std::size_t body_bytes_per_second = 1_KiB;  ///< the slowest body, after Timeouts::body_grace: 408
  std::size_t connection_body_bytes = 16_MiB;  ///< bodies kept for all requests of an HTTP/2
                                               ///< connection: they arrive one after the other
  std::size_t server_body_bytes = 64_MiB;      ///< bodies kept over all connections: 503
  std::size_t chunk_extension_bytes = 4_KiB;   ///< in all chunks of a body: 400
  std::size_t trailer_bytes = 8_KiB;           ///< a trailer section: 431
  std::uint16_t trailer_fields = 64;           ///< field lines of a trailer section: 431
  std::size_t unread_body_bytes =
      256_KiB;                        ///< an unwanted body, read to keep the connection: closed
  std::size_t output_bytes = 1_MiB;   ///< responses queued for a slow peer: reading stops
  std::size_t stream_bytes = 64_KiB;  ///< a streamed body, in either direction, that the other side
                                      ///< has not taken: the faster side waits
  std::uint32_t http2_streams = 100;  ///< concurrent requests on an HTTP/2 connection: refused
  std::size_t connections =
      65'536;  ///< open at once, over all threads: accepting pauses. Lower if the process may not
               ///< open as many files; some descriptors are reserved for files and lookups
};

/// How a response ended.
enum class ResponseEnd : std::uint8_t {
  Complete,  ///< all of it was sent
  PeerLeft,  ///< the peer closed or reset the connection or the stream
  TimedOut,  ///< the peer took nothing, or sent nothing, for too long
  Failed,    ///< its producer threw, or the rest of the request was malformed
  Stopped,   ///< the server was stopped
};

/// A response that was sent or begun, for hooks and access logs. Views are valid during the call
/// only.
struct RequestRecord {
  std::string_view client{};      ///< the client's address, see Request::client_address():
                                  ///< `192.0.2.1`, `2001:db8::1`
  std::string_view peer{};        ///< of the connection: `192.0.2.1:4711`
  std::string_view target{};      ///< as received; empty when the request line could not be parsed
  std::string_view referer{};     ///< as received, its first KiB
  std::string_view user_agent{};  ///< as received, its first KiB
  Method method = Method::Get;
  Version version = Version::Http11;
  Status status = Status::Ok;
  std::uint64_t body_bytes = 0;      ///< content that was sent, without its framing
  std::uint64_t sent_bytes = 0;      ///< the response with its head and framing, without TLS
  std::uint64_t received_bytes = 0;  ///< `head_bytes` and content; the rest that a handler left
                                     ///< unread is not counted
  bool is_cut = false;  ///< the response is incomplete: the peer left or a stream failed. An
                        ///< endless one is cut by whichever side leaves
  ResponseEnd end = ResponseEnd::Complete;        ///< why it is cut
  std::chrono::system_clock::time_point start{};  ///< when the request's head was complete
  Duration first_byte{};                          ///< from there to the first byte of the response
  Duration duration{};                            ///< from there to its last byte
  std::string_view route{};         ///< the pattern that the path matched, `/users/{id}`; or empty
  std::string_view request_id{};    ///< set by request_id(), if it is in use
  std::string_view user{};          ///< who logged in, see auth::user(); or empty
  std::size_t head_bytes = 0;       ///< of the request's head; HTTP/2: of its fields, decompressed
  Errc error = Errc::None;          ///< why the request was refused, if it was malformed
  std::uint64_t connection_id = 0;  ///< see Connection::id()
  const TlsInfo* tls = nullptr;     ///< of the connection; null without TLS
  std::string_view method_name{};   ///< as sent, even if `method` is Other
};

/// Why a connection was refused right after it was accepted.
enum class ConnectionRefusal : std::uint8_t {
  IpFilter,        ///< by ServerOptions::ip_filter
  Callback,        ///< ServerOptions::accepts returned false
  CallbackFailed,  ///< ServerOptions::accepts threw
  UntrustedProxy,  ///< it is not one of ServerOptions::trusted_proxies, with the PROXY protocol
};

/// Callbacks that a server calls on its threads, several at once if it has several threads.
/// Exceptions are caught and logged. Empty callbacks cost nothing.
struct Hooks {
  std::function<void(const RequestRecord&)> on_response{};  ///< after a response was sent or cut
  /// After accept; with the PROXY protocol, once the client is known, and with TLS, too, after the
  /// handshake.
  std::function<void(std::string_view peer)> on_connection_open{};
  std::function<void()> on_connection_close{};  ///< the peer's address is no longer known
  std::function<void(std::string_view peer, ConnectionRefusal why)>
      on_connection_refused{};  ///< instead of on_connection_open, once the connection is reset
  std::function<void(LogLevel, std::string_view)>
      log{};  ///< events that no peer can be told of: lines about a request have its id and trace.
              ///< A Server itself prints nothing; serve() prints warnings and errors
};

/// Options of a server; the defaults are safe for the open Internet.
struct ServerOptions {
  std::string host = "0.0.0.0";  ///< a numeric address, `localhost`, `unix:/path`, or `unix:@name`
  std::uint16_t port = 8080;     ///< 0: any free port, see Server::port()
  bool reuse_port = false;       ///< other processes of the same user may listen on the port, too;
                                 ///< the system balances. Not for Unix sockets
  /// Sockets to accept connections on, instead of `host` and `port`: see inherited_sockets(). The
  /// server uses duplicates. A drain leaves the connections that were not accepted yet in the
  /// system's queue, for others that listen on them; paths of Unix sockets are not removed.
  std::vector<ListeningSocket> listeners{};
  unsigned threads = 0;  ///< 0: one per core
  BackendChoice backend = BackendChoice::Auto;
  unsigned offload_threads = 4;      ///< for offload() calls of all threads; started when needed
  std::size_t offload_queue = 1024;  ///< offload() calls that may wait; more are refused: 503
  TlsOptions tls{};
  /// Which peers may connect, by rules that may change meanwhile; null: all. Others are reset right
  /// after accept, before TLS: they are sent nothing. Unix sockets are not affected.
  std::shared_ptr<const IpFilter> ip_filter{};
  /// A rule of your own, asked after `ip_filter`, on a thread of the server; empty: all may
  /// connect. If it returns false or throws, the connection is reset.
  std::function<bool(const Address& peer)> accepts{};
  /// The proxies in front of this server, and what they are believed; null: nobody is.
  std::shared_ptr<const TrustedProxies> trusted_proxies{};
  bool raise_open_files = true;  ///< raises the soft RLIMIT_NOFILE to the hard one
  bool http2 = true;             ///< for clients that negotiate it over TLS or have prior knowledge
  std::string server_name = "skua";  ///< the Server field, one line; empty: not sent
  Timeouts timeouts{};
  Limits limits{};
  Hooks hooks{};
  std::shared_ptr<detail::Meter> metrics{};  ///< a Metrics object; null: nothing is measured
};

}  // namespace skua
