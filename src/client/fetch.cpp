// SPDX-License-Identifier: MIT
// In: a request. Out: its response, however many exchanges that takes. Each round begins with the
// fields to send (fetch_fields.cpp) and ends with a head; rules that never wait (authorization.cpp,
// redirect.cpp) decide what follows from it.
#include "client/fetch.hpp"

#include <algorithm>
#include <utility>

#include "client/problem.hpp"
#include "client/waiting.hpp"
#include "client/wire/pace.hpp"

namespace skua::client {
namespace {

using Event = h1::ResponseEvent;

// On connections that may be dead. A caller that repeats requests by itself counts them, too.
constexpr unsigned max_tries = 3;
constexpr unsigned max_tries_of_caller = 2;
// For connections that turn out to have ended before anything is sent.
constexpr unsigned max_ended = 1000;

void append_lines(const http::Head& head, std::string& out) {
  for (const http::FieldLine& line : head.fields) {
    out.append(head.name(line)).append(": ").append(head.value(line)).append("\r\n");
  }
}

/// Tells the meter, if there is one, how a request ends; one that is dropped was cancelled.
class Metering {
 public:
  explicit Metering(const Core& core) noexcept : meter_(core.meter), began_(core.loop.now()) {}
  Metering(const Metering&) = delete;
  Metering& operator=(const Metering&) = delete;
  ~Metering() {
    if (meter_ != nullptr) meter_->cancelled();
  }

  void ended(const Result<IncomingResponsePointer, Problem>& got, const Reached& reached,
             loop::Instant now) noexcept {
    Meter* const told = std::exchange(meter_, nullptr);
    if (told == nullptr) return;
    if (got) {
      told->responded((*got)->head().status, now - began_);
    } else {
      told->failed(got.error().error, reached);
    }
  }

 private:
  Meter* meter_;
  const loop::Instant began_;
};

// RFC 9113 §7, HTTP_1_1_REQUIRED
bool wants_http1(const Exchange& exchange, Error error) {
  return exchange.is_unprocessed() && error.code() == Errc::UnsupportedVersion;
}

// Reports whether the server has closed the connection instead of answering, maybe before it got
// the request.
bool was_closed_before_answer(const Exchange& exchange, const PooledConnection& connection,
                              Error error) {
  const bool is_closed = error.code() == Errc::Closed || error.code() == Errc::Reset;
  return is_closed && !exchange.has_begun() && connection.capacity() == 0;
}

}  // namespace

// RFC 8441 §4, §5: the method and `:protocol` take the place of the fields that only HTTP/1.1 has.
Result<ExchangePointer> Fetch::begin_tunnel(HttpConnection& connection) {
  FieldLines lines = fields_;
  for (const char* const name : {"Connection", "Upgrade", "Sec-WebSocket-Key"}) lines.remove(name);
  Result<ExchangePointer> begun = connection.begin({.method = Method::Connect,
                                                    .target = forwarding()->target,
                                                    .protocol = "websocket",
                                                    .url = url(),
                                                    .fields = lines});
  timings_.sent = core_->loop.now() - began_;
  return begun;
}

Result<ExchangePointer, Problem> Fetch::begin(HttpConnection& connection) {
  is_tunnel_ = offers_upgrade() && connection.tunnels() == HttpConnection::Tunnels::Extended;
  if (is_tunnel_) return told(begin_tunnel(connection));
  Result<RequestContent, Problem> content = RequestContent{};
  if (has_content_) content = make_content(spec_);
  if (!content) return could_not(step(), content.error().error, content.error().text);
  content_bytes_ = length_of(content->body);
  waits_for_continue_ = expects_continue_ && content->body.kind() != Body::Kind::None;
  const std::optional<Forwarding>& forwarding = spec_.forwarding;
  const bool is_complete = forwarding && !waits_for_continue_;
  Result<FieldLines> lines = is_complete ? FieldLines() : fields(*content);
  if (!lines) return could_not(step(), lines.error());
  std::string shown;
  const bool is_stream = content->body.kind() == Body::Kind::Stream;
  Result<ExchangePointer> begun = connection.begin(
      {.method = method_,
       .other_method = other_method(),
       .target = forwarding ? std::string_view(forwarding->target) : "",
       .url = url(),
       .fields = is_complete ? fields_ : *lines,
       .content = paced(std::move(content->body), spec_.bytes_per_second, core_->loop),
       .form = route_.use == ProxyUse::Forward ? h1::TargetForm::Absolute : h1::TargetForm::Origin,
       .expects_continue = waits_for_continue_,
       .shown = spec_.on_head ? &shown : nullptr});
  if (begun && spec_.on_head) spec_.on_head(HeadOf::Request, shown);
  if (begun && is_stream && !waits_for_continue_) is_sent_ = true;
  timings_.sent = core_->loop.now() - began_;
  return told(std::move(begun));
}

Result<ExchangePointer, Problem> Fetch::told(Result<ExchangePointer> begun) const {
  if (!begun) return could_not(step(), begun.error());
  return *std::move(begun);
}

bool Fetch::is_http1_only() const {
  if (offers_upgrade()) {
    const bool is_shared = core_->sharing(origin(), route_.use) == Pool::Sharing::Possible;
    if (!is_shared || core_->without_tunnels.contains(server(), core_->loop.now())) return true;
  }
  return core_->http1_only.contains(server(), core_->loop.now());
}

const std::string& Fetch::key_of_connections(bool only_http1) {
  const std::string_view beginning = preface();
  if (!only_http1 && beginning.empty()) return server();
  own_key_ = server();
  if (only_http1) own_key_.append(" http/1.1");
  if (!beginning.empty()) own_key_.append(" ").append(beginning);
  return own_key_;
}

Task<Result<Pool::Lease, Problem>> Fetch::acquire(std::string key, bool only_http1) {
  const Pool::Sharing sharing =
      only_http1 ? Pool::Sharing::None : core_->sharing(origin(), route_.use);
  const Pool::Connect connect = [this, only_http1] {
    reached_.has_tried = true;
    return core_->open(origin(), &times_, only_http1, std::string(preface()));
  };
  Task<Result<Pool::Lease, Problem>> acquiring = core_->pool.acquire(
      std::move(key), origin().to_string(), core_->options.timeouts.queue, connect, sharing);
  if (deadline_ == loop::Instant::max()) {
    Result<Pool::Lease, Problem> lease = co_await std::move(acquiring);
    co_return lease;
  }
  std::optional<Result<Pool::Lease, Problem>> lease =
      co_await within(core_->loop, deadline_, std::move(acquiring));
  if (!lease) co_return timed_out(step(), {spec_.timeout, "timeout", "not done"});
  co_return *std::move(lease);
}

Task<bool> Fetch::can_tunnel(HttpConnection& connection) {
  using Tunnels = HttpConnection::Tunnels;
  const loop::Instant until =
      std::min(deadline_, later(core_->loop.now(), core_->options.timeouts.head));
  while (connection.tunnels() == Tunnels::Unknown) {
    const Duration left = until - core_->loop.now();
    if (left <= Duration(0)) break;
    co_await TimedWait(core_->loop, connection.learned(), left);
  }
  co_return connection.tunnels() == Tunnels::Upgrade || connection.tunnels() == Tunnels::Extended;
}

// The response's head -----------------------------------------------------------------------------

void Fetch::take_interim(Exchange& exchange) {
  const http::Head& head = exchange.head();
  if (head.status == 100) {
    waits_for_continue_ = false;
    is_sent_ = true;
    return exchange.continue_now();
  }
  const Forwarding* const passed_on = forwarding();
  if (passed_on != nullptr && passed_on->on_interim) {
    passed_on->on_interim(head);
    reached_.has_informed = true;
  }
  if (!spec_.on_interim) return;
  std::string lines;
  append_lines(head, lines);
  spec_.on_interim(static_cast<Status>(head.status), lines);
}

// Once everything is sent, the head has its own limit, which trickling bytes do not extend. Content
// that is passed on has that of the server that receives it.
Duration Fetch::patience(const Exchange& exchange, const HeadWait& state) const noexcept {
  const loop::Instant now = core_->loop.now();
  Duration left = Duration::max();
  if (exchange.is_all_sent()) {
    left = head_timeout() - (now - state.all_sent);
  } else if (!exchange.is_starved() || !spec_.forwarding) {
    left = core_->options.timeouts.idle - (now - std::max(exchange.progress(), state.fed));
  }
  return std::min(left, deadline_ - now);
}

void Fetch::tell_upload(const Exchange& exchange, std::uint64_t& told_bytes) const {
  if (!spec_.on_upload || exchange.sent_bytes() == told_bytes) return;
  told_bytes = exchange.sent_bytes();
  spec_.on_upload({told_bytes, content_bytes_});
}

Result<std::optional<Duration>> Fetch::read_head(Exchange& exchange, HeadWait& state) {
  while (true) {
    const Result<Exchange::Step> step = read_step(exchange, sends_files(spec_));
    if (!step) return step.error();
    tell_upload(exchange, state.told_bytes);
    if (step->event == Event::Head) return std::optional<Duration>();
    if (step->event == Event::Interim) take_interim(exchange);
    if (step->event != Event::NeedMore) continue;
    const loop::Instant now = core_->loop.now();
    if (!state.was_all_sent) state.all_sent = now;
    state.was_all_sent = exchange.is_all_sent();
    const bool was_starved = std::exchange(state.was_starved, exchange.is_starved());
    if (was_starved && !state.was_starved) state.fed = now;
    Duration left = patience(exchange, state);
    if (waits_for_continue_) {
      left = std::min(left, core_->options.timeouts.continue_wait - (now - state.asked));
      if (left <= Duration(0)) {
        waits_for_continue_ = false;
        is_sent_ = true;
        exchange.continue_now();
        continue;
      }
    }
    if (left <= Duration(0)) return Errc::TimedOut;
    return std::optional(left);
  }
}

void Fetch::tell_head(const http::Head& head) const {
  if (!spec_.on_head) return;
  std::string lines(head.version() == Version::Http2    ? "HTTP/2 "
                    : head.version() == Version::Http10 ? "HTTP/1.0 "
                                                        : "HTTP/1.1 ");
  lines.append(std::to_string(head.status)).append(" ").append(head.target()).append("\r\n");
  append_lines(head, lines);
  spec_.on_head(HeadOf::Response, lines);
}

// Reports whether a request that may have reached the server is repeated nevertheless.
bool Fetch::may_be_sent_again() const {
  return is_idempotent(method_) && (!has_content_ || is_repeatable(spec_));
}

bool Fetch::may_repeat(const Exchange& exchange, bool is_reused, Error error) const {
  if (is_sent_ && has_content_ && !is_repeatable(spec_)) return false;
  if (wants_http1(exchange, error)) {
    return core_->options.versions == HttpVersions::Any || offers_upgrade();
  }
  if (exchange.is_unprocessed()) return true;
  return is_reused && !exchange.has_begun() && is_idempotent(method_) &&
         error.code() != Errc::TimedOut;
}

Problem Fetch::failure(const Exchange& exchange, Error error) const {
  if (error.code() == Errc::TimedOut && error.system_code() == 0) {
    const ClientTimeouts& timeouts = core_->options.timeouts;
    if (core_->loop.now() >= deadline_) {
      return timed_out(step(), {spec_.timeout, "timeout", "not done"});
    }
    if (!exchange.is_all_sent()) {
      const char* const lack =
          exchange.is_starved() ? "no more content was produced" : "no more content was taken";
      return timed_out(step(), {timeouts.idle, "ClientTimeouts::idle", lack});
    }
    return timed_out(step(), {head_timeout(), "ClientTimeouts::head", "no response head"});
  }
  if (wants_http1(exchange, error)) {
    return could_not(step(), error, "the server wants HTTP/1.1 for this");
  }
  if (error.code() != Errc::Closed) return could_not(step(), error);
  return could_not(step(), error,
                   exchange.has_begun()
                       ? "the server closed the connection in the middle of its answer"
                       : "the server closed the connection without an answer");
}

Task<Result<IncomingResponsePointer, Problem>> Fetch::exchange() {
  const unsigned most = spec_.reached != nullptr ? max_tries_of_caller : max_tries;
  unsigned ended = 0;
  for (unsigned tries = 1;; ++tries) {
    const bool only_http1 = is_http1_only();
    reached_.is_fallback = only_http1 && core_->options.versions == HttpVersions::Http2;
    const std::string& key = key_of_connections(only_http1);
    Pool::Lease lease = core_->pool.take_free(key);
    if (!lease) {
      Result<Pool::Lease, Problem> acquired = co_await acquire(key, only_http1);
      if (!acquired) co_return std::move(acquired).error();
      lease = *std::move(acquired);
    }
    const bool is_reused = lease.is_reused();
    auto& connection = static_cast<HttpConnection&>(lease.connection());
    if (is_reused && (tries > 1 || !may_be_sent_again())) {
      co_await yield();  // the rest of this turn's news
      co_await yield();  // what has arrived since
    }
    if (offers_upgrade()) {
      const bool is_possible = co_await can_tunnel(connection);
      if (!is_possible) {
        core_->without_tunnels.insert(server(), core_->loop.now());
        continue;
      }
    }
    Result<ExchangePointer, Problem> begun = begin(connection);
    reached_.is_connected = begun || begun.error().code() != Errc::Closed;
    if (!begun) {
      if (begun.error().code() != Errc::Closed) co_return std::move(begun).error();
      if (is_reused && ++ended < max_ended) --tries;  // there was nothing to lose
      if (tries < most) continue;
      co_return std::move(begun).error();
    }
    const ExchangePointer& running = *begun;
    HeadWait state(core_->loop.now());
    Result<std::optional<Duration>> left = read_head(*running, state);
    while (left && left->has_value()) {
      co_await TimedWait(core_->loop, running->changed(), left->value_or(Duration(0)));
      left = read_head(*running, state);
    }
    if (left) {
      tell_head(running->head());
      co_return receive(std::move(lease), *std::move(begun));
    }
    if (wants_http1(*running, left.error())) refuse_http2();
    reached_.was_reused = is_reused && was_closed_before_answer(*running, connection, left.error());
    if (reached_.was_reused) core_->pool.close_idle_beside(connection);
    if (tries < most && may_repeat(*running, is_reused, left.error())) {
      reached_.is_connected = reached_.was_reused = false;  // the next try may not get as far
      continue;
    }
    reached_.has_sent = is_sent_ && has_content_ && !is_repeatable(spec_);
    reached_.is_unprocessed = running->is_unprocessed();
    co_return failure(*running, left.error());
  }
}

// RFC 9113 §7: the server wants HTTP/1.1, for this request at least.
void Fetch::refuse_http2() {
  if (offers_upgrade()) {
    core_->without_tunnels.insert(server(), core_->loop.now());
  } else if (core_->options.versions == HttpVersions::Any) {
    core_->http1_only.insert(server(), core_->loop.now());
  }
}

IncomingResponsePointer Fetch::receive(Pool::Lease&& lease, ExchangePointer&& exchange) {
  timings_.head = core_->loop.now() - began_;
  const auto since = [this](const std::optional<loop::Instant>& time) {
    return time ? std::optional(*time - began_) : std::nullopt;
  };
  timings_.resolved = since(times_.resolved);
  timings_.connected = since(times_.connected);
  timings_.secured = since(times_.secured);
  IncomingResponse::Asked asked;
  asked.method = is_tunnel_ ? Method::Connect : method_;
  asked.method_name = method_name();
  if (!spec_.forwarding) asked.url = url_;
  asked.redirects = redirects_;
  asked.decompress = spec_.decompress && !fields_.find("Accept-Encoding");
  asked.sends_files = sends_files(spec_);
  asked.began = began_;
  asked.deadline = deadline_;
  asked.timings = timings_;
  asked.peer = static_cast<HttpConnection&>(lease.connection()).peer();
  asked.on_progress = spec_.on_progress;
  asked.bytes_per_second = spec_.bytes_per_second;
  asked.watch = std::move(spec_.watch);
  return std::make_unique<IncomingResponse>(core_, std::move(lease), std::move(exchange),
                                            std::move(asked));
}

Task<Result<IncomingResponsePointer, Problem>> Fetch::run(std::shared_ptr<Core> core,
                                                          RequestSpec& spec,
                                                          std::unique_ptr<RequestSpec> /*owned*/) {
  Fetch fetch(std::move(core), spec);
  if (auto read = fetch.read_url(); !read) co_return std::move(read).error();
  while (true) {
    fetch.begin_round();
    Metering metering(*fetch.core_);
    Result<IncomingResponsePointer, Problem> got = co_await fetch.exchange();
    metering.ended(got, fetch.reached_, fetch.core_->loop.now());
    if (!got) co_return std::move(got).error();
    const Next what = fetch.next((*got)->head());
    if (what == Next::Answer) co_return std::move(got);
    co_await (*got)->discard();
    if (what == Next::Problem) co_return *std::move(fetch.problem_);
  }
}

// A connection to a forwarding proxy serves every origin behind it.
void Fetch::begin_round() {
  if (!spec_.forwarding) origin_ = origin_of(url_, core_->options.unix_socket);
  route_ = core_->proxies.route(origin(), false);
  if (route_.use == ProxyUse::Forward) {
    server_ = "proxy " + route_.proxy->proxy().origin.to_string();
  } else if (!spec_.forwarding) {
    server_ = origin_.key();
  }
  times_ = ConnectTimes();
  timings_ = ClientTimings();
  reached_ = {};
}

Task<Result<IncomingResponsePointer, Problem>> fetch(std::shared_ptr<Core> core,
                                                     std::unique_ptr<RequestSpec> spec) {
  RequestSpec& own = *spec;
  return Fetch::run(std::move(core), own, std::move(spec));
}

Task<Result<IncomingResponsePointer, Problem>> fetch(std::shared_ptr<Core> core,
                                                     RequestSpec& spec) {
  return Fetch::run(std::move(core), spec, nullptr);
}

}  // namespace skua::client
