// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace skua {

/// Counters of a server since its start, summed over its threads.
struct Counters {
  std::uint64_t connections_accepted = 0;       ///< without those that a filter refused
  std::uint64_t connections_open = 0;           ///< at present
  std::uint64_t refused_by_ip_filter = 0;       ///< connections: by ServerOptions::ip_filter
  std::uint64_t refused_by_callback = 0;        ///< connections: ServerOptions::accepts said no
  std::uint64_t failed_accepts = 0;             ///< connections: ServerOptions::accepts threw
  std::uint64_t refused_untrusted_proxies = 0;  ///< connections: see ServerOptions::trusted_proxies
  std::uint64_t refused_proxy_headers = 0;  ///< connections closed for lack of a valid PROXY header
  std::uint64_t requests = 0;               ///< heads parsed completely
  std::uint64_t responses = 0;              ///< heads written, whatever their status
  std::uint64_t bytes_received = 0;         ///< from sockets
  std::uint64_t bytes_sent = 0;             ///< to sockets
  std::uint64_t refused_malformed = 0;      ///< answered 400, 501, 505 or 417 by the parser
  std::uint64_t refused_too_large = 0;      ///< answered 413, 414 or 431
  std::uint64_t refused_overloaded = 0;  ///< answered 503: Limits::server_body_bytes and the like
  std::uint64_t refused_slow = 0;        ///< answered 408, or closed by a timeout in a response
  std::uint64_t handler_failures = 0;    ///< exceptions answered with 500
  std::uint64_t handlers_cancelled = 0;  ///< dropped while waiting: the peer was gone or too slow
  std::uint64_t out_of_memory = 0;       ///< connections and requests ended by lack of memory
  std::uint64_t accept_pauses = 0;       ///< connection cap reached, or no descriptors left
  std::uint64_t handshakes = 0;          ///< TLS handshakes completed
  std::uint64_t handshakes_resumed = 0;  ///< those that continue an earlier session
  std::uint64_t handshakes_failed = 0;   ///< connections that ended before the handshake did
  std::uint64_t handshakes_open = 0;     ///< connections in a handshake, or silent before it
  std::uint64_t http2_open = 0;          ///< connections that speak HTTP/2, at present
  std::uint64_t websockets_open = 0;     ///< at present
  std::uint64_t subscriptions = 0;       ///< of WebSockets to topics, at present
  std::uint64_t content_kept_bytes = 0;  ///< request content kept in memory, at present
  std::uint64_t offloads_running = 0;    ///< offload() calls that run, at present
  std::uint64_t offloads_waiting = 0;    ///< those that wait for a thread, at present
  std::uint64_t offloads_refused = 0;    ///< those that found the queue full
  std::uint64_t wait_calls = 0;          ///< system calls that wait for events
  std::uint64_t receive_calls = 0;
  std::uint64_t send_calls = 0;
  std::uint64_t other_calls = 0;
};

}  // namespace skua
