// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/counter.hpp"
#include "base/pool.hpp"
#include "h1/body_decoder.hpp"
#include "h1/framing.hpp"
#include "h1/head_parser.hpp"
#include "h2/connection.hpp"
#include "loop/loop.hpp"
#include "net/output_queue.hpp"
#include "server/content_budget.hpp"
#include "server/date_cache.hpp"
#include "server/h1_exchange.hpp"
#include "server/h2_exchange.hpp"
#include "skua/counters.hpp"
#include "skua/options.hpp"
#include "skua/router.hpp"
#include "ws/message_coding.hpp"
#include "ws/topics.hpp"

namespace skua::server {

/// The counters of one worker.
struct WorkerCounters {
  base::Counter accepted;
  base::Counter closed;
  base::Counter requests;
  base::Counter responses;
  base::Counter bytes_received;
  base::Counter bytes_sent;
  base::Counter refused_malformed;
  base::Counter refused_too_large;
  base::Counter refused_slow;
  base::Counter handler_failures;
  base::Counter handlers_cancelled;
  base::Counter out_of_memory;
  base::Counter accept_pauses;

  void add_to(Counters& sum) const noexcept;
};

/// What a request needs that has not arrived whole: its head, and the state of its parsing.
///
/// From a worker's pool: a connection owns one only while a message is incomplete or has to wait.
struct Inbox {
  explicit Inbox(const Limits& limits);

  /// Empty again, and its memory small enough to be kept.
  void reset();
  /// Keeps a head that was parsed somewhere else, or that was completed here.
  void take(const http::Head& parsed, const h1::Framing& framed);

  std::string input;  ///< the (unfinished) head; while the output is full: requests that wait
  std::vector<http::FieldLine> lines;
  h1::HeadParser parser;
  http::Head head;  ///< of an exchange, as the next two
  h1::Framing framing;
  h1::BodyDecoder decoder;
  loop::Instant began{};     ///< the head of an exchange was there
  loop::Instant deadline{};  ///< of the head
};

/// The part of the options that a parser needs.
h1::HeadLimits head_limits(const Limits& limits) noexcept;

class Connection;

/// Who owns connections; told when one is closed, and to destroy it then.
class ConnectionOwner {
 public:
  virtual void connection_closed(Connection& connection) noexcept = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// What all connections of one thread share.
struct Resources {
  /// `hub`, as the others, outlives it.
  Resources(const Router& served, const ServerOptions& told, loop::Loop& thread_loop, ws::Hub& hub,
            ContentBudget& budget, ConnectionOwner& connection_owner);

  std::unique_ptr<Inbox> take_inbox();
  void give_back(std::unique_ptr<Inbox> inbox) noexcept;
  std::unique_ptr<H2Exchange> take_h2_exchange();
  void give_back(std::unique_ptr<H2Exchange> exchange) noexcept;
  std::unique_ptr<H1Exchange> take_exchange();
  void give_back(std::unique_ptr<H1Exchange> exchange) noexcept;
  /// What a response that is made now has in common with others.
  [[nodiscard]] const DateCache& dated() {
    date_cache.update(loop.now());
    return date_cache;
  }

  /// How long a connection may do nothing.
  [[nodiscard]] Duration idle_time() const noexcept {
    return is_under_pressure ? options.timeouts.idle_under_pressure : options.timeouts.idle;
  }

  /// Runs calls of other threads on this one, as long as it has a loop.
  [[nodiscard]] ws::Poster poster() const;

  const Router& router;
  const ServerOptions& options;
  loop::Loop& loop;
  ContentBudget& content_budget;
  ConnectionOwner& owner;
  ws::Codecs codecs;
  ws::Topics topics;
  net::OutputQueue::Blocks blocks;
  h2::Workspace h2_workspace;
  std::vector<std::unique_ptr<Inbox>> inboxes;
  std::vector<std::unique_ptr<H1Exchange>> exchanges;
  std::vector<std::unique_ptr<H2Exchange>> h2_exchanges;
  std::vector<http::FieldLine> lines;  ///< of the parser below
  std::vector<char> path_scratch;      ///< for a path that has to be decoded
  std::string unmask_scratch;          ///< for frames of a WebSocket that lie in const memory
  h1::HeadParser parser;               ///< for heads that arrive whole, which is nearly all
  http::LastAuthority known_host;
  DateCache date_cache;
  WorkerCounters counters;
  bool is_draining = false;        ///< the last response to what was received closes
  bool is_under_pressure = false;  ///< nearly as many connections as allowed
};

}  // namespace skua::server
