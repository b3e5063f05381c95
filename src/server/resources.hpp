// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counter.hpp"
#include "base/memory.hpp"
#include "body/spare_texts.hpp"
#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"
#include "h2/connection.hpp"
#include "loop/clock.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "server/date_cache.hpp"
#include "server/h1/exchange.hpp"
#include "server/h2/server_stream.hpp"
#include "server/kept_content.hpp"
#include "server/target_cache.hpp"
#include "skua/counters.hpp"
#include "skua/meter.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "ws/message_coding.hpp"
#include "ws/topics.hpp"

namespace skua::detail {
class ProxyHeaderReader;
}  // namespace skua::detail

namespace skua::server {

/// The counters of one worker.
struct WorkerCounters {
  base::Counter accepted;
  base::Counter closed;
  base::Counter refused_by_ip_filter;
  base::Counter refused_by_callback;
  base::Counter failed_accepts;
  base::Counter refused_untrusted_proxies;
  base::Counter refused_proxy_headers;
  base::Counter requests;
  base::Counter responses;
  base::Counter bytes_received;
  base::Counter bytes_sent;
  base::Counter refused_malformed;
  base::Counter refused_too_large;
  base::Counter refused_overloaded;
  base::Counter refused_slow;
  base::Counter handler_failures;
  base::Counter handlers_cancelled;
  base::Counter out_of_memory;
  base::Counter accept_pauses;
  base::Counter handshakes_begun;
  base::Counter handshakes;
  base::Counter handshakes_resumed;
  base::Counter handshakes_failed;
  base::Counter http2_begun;
  base::Counter http2_ended;
  base::Counter websockets_begun;
  base::Counter websockets_ended;

  void add_to(Counters& sum) const noexcept;
};

/// The head and the parsing state of a request that has not arrived completely.
///
/// Pooled by the worker: a connection owns one only while a message is incomplete or has to wait.
struct PartialRequest {
  explicit PartialRequest(const Limits& limits);

  /// Clears the request, and frees memory that is too large to keep.
  void reset();
  /// Stores a head that was parsed elsewhere, or that was completed here.
  void take(const http::Head& parsed, const h1::Framing& framed);

  std::string input;  ///< the (incomplete) head, or requests that wait while the output is full
  std::vector<http::FieldLine> lines;
  h1::HeadParser parser;
  http::Head head;  ///< of an exchange, like the next two
  h1::Framing framing;
  h1::BodyDecoder decoder;
  loop::Instant began{};     ///< when the head of an exchange was complete
  loop::Instant deadline{};  ///< for the head
};

/// Returns the limits of a head parser.
h1::HeadLimits head_limits(const Limits& limits) noexcept;

class Connection;

/// The owner of connections, which destroys a connection when it is closed.
class ConnectionOwner {
 public:
  virtual void connection_closed(Connection& connection) noexcept = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// Resources shared by all connections of one thread.
struct Resources {
  /// All arguments must outlive the object.
  Resources(const Router& served, const ServerOptions& told, loop::Loop& thread_loop, ws::Hub& hub,
            ContentBudget& budget, std::atomic<std::uint64_t>& ids,
            ConnectionOwner& connection_owner);

  std::unique_ptr<PartialRequest> take_inbox();
  void give_back(std::unique_ptr<PartialRequest> partial_request) noexcept;
  std::unique_ptr<ServerStream> take_h2_exchange();
  void give_back(std::unique_ptr<ServerStream> exchange) noexcept;
  std::unique_ptr<H1Exchange> take_exchange();
  void give_back(std::unique_ptr<H1Exchange> exchange) noexcept;
  /// Returns the standard fields of a response that is made now.
  [[nodiscard]] const DateCache& dated() {
    date_cache.update(loop.now());
    return date_cache;
  }

  /// Returns how long a connection may be idle.
  [[nodiscard]] Duration idle_time(const net::Stream& connection) const noexcept {
    if (is_under_pressure) [[unlikely]]
      return idle_time_under_pressure(connection);
    return options.timeouts.idle;
  }
  SKUA_COLD Duration idle_time_under_pressure(const net::Stream& connection) const noexcept;

  /// Returns a poster with which other threads run calls on this one, as long as its loop lives.
  [[nodiscard]] ws::Poster poster() const;

  const Router& router;
  const ServerOptions& options;
  loop::Loop& loop;
  ContentBudget& content_budget;
  std::atomic<std::uint64_t>& connection_ids;  ///< the last that a connection was given
  ConnectionOwner& owner;
  const http::OriginSource* origins = nullptr;  ///< of requests; null: no proxy is trusted
  const detail::ProxyHeaderReader* header_reader = nullptr;  ///< null without PROXY headers
  ws::Topics topics;
  ws::Codecs codecs;
  net::OutputQueue::Blocks blocks;
  body::SpareTexts spare_texts;  ///< of bodies
  h2::Workspace h2_workspace;
  std::vector<std::unique_ptr<PartialRequest>> inboxes;
  std::vector<std::unique_ptr<H1Exchange>> exchanges;
  std::vector<std::unique_ptr<ServerStream>> h2_exchanges;
  std::vector<http::FieldLine> lines;  ///< used by the parser below
  std::vector<char> path_scratch;      ///< for paths that have to be decoded
  std::string unmask_scratch;          ///< for WebSocket frames in const memory
  h1::HeadParser parser;               ///< for heads that arrive complete, as nearly all do
  http::LastAuthority known_host;
  TargetCache targets;
  DateCache date_cache;
  WorkerCounters counters;
  SpareEntries spare_entries;
  SendClock send_clock;
  const std::unique_ptr<detail::ThreadMeter> meter;  ///< of ServerOptions::metrics; null without
  const bool records_responses;                      ///< for Hooks::on_response or the meter
  std::uint32_t drained_sockets = 0;                 ///< WebSockets whose end a drain has scheduled
  bool is_draining = false;        ///< connections close after the requests received so far
  bool is_under_pressure = false;  ///< the number of connections is near the limit
};

/// Returns when a connection that begins now reaches Timeouts::connection_age. Varied by up to 10%
/// either way, so that connections opened together do not all end together.
inline loop::Instant end_of_age(Resources& resources, const void* seed) noexcept {
  const Duration age = resources.options.timeouts.connection_age;
  const auto spread =
      static_cast<Duration::rep>(reinterpret_cast<std::uintptr_t>(seed) >> 6 & 0xFF);
  return later(later(resources.loop.now(), age / 10 * 9), age / (5 * 255) * spread);
}

}  // namespace skua::server
