// SPDX-License-Identifier: MIT
// In: bytes. Out: responses. A message that arrives complete, as nearly all do, is parsed and
// answered in place, in the loop's buffer; only an incomplete one is copied into a PartialRequest
// from the worker's pool. Any protocol error ends in refuse(): an error response, and no attempt to
// find the next message. RFC 9112 §11.
#include "server/h1/protocol.hpp"

#include <string>
#include <utility>

#include "body/cold_files.hpp"
#include "h1/request_line.hpp"
#include "server/accounting.hpp"
#include "server/dispatch.hpp"
#include "server/h1/writer.hpp"
#include "server/websocket/upgrades.hpp"

namespace skua::server {

void H1Protocol::receive(std::span<char> bytes) {
  const std::string_view all(bytes.data(), bytes.size());
  if (is_stalled_) return stall(all);  // bytes already on their way when reading stopped
  if (exchange_ != nullptr) return feed(all);
  const std::string_view rest = serve(all);
  // The first bytes of another protocol may directly follow its handshake.
  if (successor_ != nullptr && !rest.empty()) successor_->receive(bytes.last(rest.size()));
}

// Serves every complete request. Returns the input that belongs to another protocol.
inline std::string_view H1Protocol::serve(std::string_view input) {
  while (!input.empty() && !is_finished_ && successor_ == nullptr) {
    if (output_is_full()) {
      stall(input);
      return {};
    }
    input = read_head(input);
    if (exchange_ != nullptr && stays_with_exchange(input)) return {};
  }
  return input;
}

// The input after a request waits until its exchange has ended.
[[gnu::noinline]] bool H1Protocol::stays_with_exchange(std::string_view input) {
  if (advance_exchange(input.empty())) return false;
  feed(input);
  return true;
}

void H1Protocol::resume() {
  std::string held;
  if (exchange_ != nullptr) {
    if (exchange_->can_resume_input()) {
      const Result<void> taken = exchange_->resume_input();
      if (!taken) return refuse(taken.error().code());
    }
    std::optional<std::string> behind = advance_exchange(!exchange_->has_held());
    if (!behind) return;
    held = *std::move(behind);
  } else {
    if (!is_stalled_ || output_is_full()) return;
    is_stalled_ = false;
    held = std::move(partial_request_->input);
    drop_partial_request();
  }
  receive(held);
}

ProtocolState H1Protocol::exchange_state() const noexcept {
  return {
      .waiting = exchange_->deadline() != loop::Instant::max() ? Waiting::Body : Waiting::Handler,
      .can_resume = can_resume_exchange(),
      .has_work = true,
      .wants_input = !is_stalled_ && exchange_->wants_input(),
      .is_finished = false};
}

void H1Protocol::output_drained() noexcept {
  if (exchange_ != nullptr) exchange_->output_drained();
}

loop::Instant H1Protocol::deadline() const noexcept {
  return exchange_ != nullptr ? exchange_->deadline() : partial_request_->deadline;
}

inline std::string_view H1Protocol::read_head(std::string_view input) {
  PartialRequest* const kept = partial_request_.get();
  h1::HeadParser& parser = kept == nullptr ? resources_.parser : kept->parser;
  std::string_view received = input;
  std::size_t held = 0;
  if (kept == nullptr) {
    parser.reset();
  } else {
    held = kept->input.size();
    received = kept->input.append(input);
  }
  switch (parser.parse(received)) {
    case h1::ParseStatus::NeedMore:
      if (kept == nullptr) keep_head(input);
      return {};
    case h1::ParseStatus::Failed: {
      const http::Head line = h1::read_request_line(received);
      refuse(parser.error(), &line);
      return {};
    }
    case h1::ParseStatus::Complete: break;
  }
  waiting_ = Waiting::Request;
  const std::string_view rest = begin(parser.head(), input.substr(parser.head().size_bytes - held));
  if (kept != nullptr && waiting_ == Waiting::Request) drop_partial_request();
  return rest;
}

// Handles a complete head. A plain handler answers at once if the body is complete, too.
[[gnu::always_inline]] inline std::string_view H1Protocol::begin(const http::Head& head,
                                                                 std::string_view rest) {
  ++resources_.counters.requests;
  const Result<h1::Framing> framing = h1::frame_request(head, resources_.known_host);
  if (!framing) [[unlikely]] {
    refuse(framing.error().code(), &head);
    return {};
  }
  const Target target = find(head, *framing);
  if (target.error != Errc::None) [[unlikely]] {
    refuse(target.error, &head);
    return {};
  }
  const std::uint64_t body_bytes = framing->length_bytes;
  const bool is_whole =
      framing->body != h1::BodyKind::Chunked && body_bytes <= rest.size() &&
      (body_bytes == 0 || body_bytes <= max_content_bytes(resources_.options.limits, target.match));
  if (target.match.has_coroutine || !is_whole) [[unlikely]]
    return begin_exchange(head, *framing, target, rest);
  answer(head, *framing, target, rest.substr(0, body_bytes), body_bytes == rest.size());
  return rest.substr(body_bytes);
}

std::string_view H1Protocol::begin_exchange(const http::Head& head, const h1::Framing& framing,
                                            const Target& target, std::string_view rest) {
  exchange_ = resources_.take_exchange();
  exchange_->open(*this, pump_.output());
  waiting_ = Waiting::Request;
  std::unique_ptr<PartialRequest> partial_request =
      partial_request_ != nullptr ? std::move(partial_request_) : resources_.take_inbox();
  const Result<std::string_view> behind = exchange_->start(
      head, framing, parts(head, framing, target), target.match, std::move(partial_request), rest);
  if (behind) return *behind;
  refuse(behind.error().code());
  return {};
}

Target H1Protocol::find(const http::Head& head, const h1::Framing& framing) {
  // RFC 9110 §9.3.6: CONNECT is for proxies only.
  if (framing.form == h1::TargetForm::Authority) return {Errc::UnknownMethod, {}, {}, {}};
  return find_target(resources_, pump_.stream(), head.method, framing.host, framing.path_and_query);
}

inline http::RequestParts H1Protocol::parts(const http::Head& head, const h1::Framing& framing,
                                            const Target& target) noexcept {
  return {.head = &head,
          .path = target.path,
          .query = target.query,
          .host = framing.host,
          .peer = peer_of,
          .peer_context = &pump_.stream(),
          .origins = resources_.origins,
          .connection = this,
          .is_secure = pump_.stream().is_secure(),
          .is_path_as_sent = target.is_path_as_sent,
          .upgrade = framing.upgrade};
}

[[gnu::always_inline]] inline void H1Protocol::answer(const http::Head& head,
                                                      const h1::Framing& framing,
                                                      const Target& target, std::string_view body,
                                                      bool is_last_received) {
  http::RequestParts known = parts(head, framing, target);
  known.body = body;
  Request request(known);
  const bool is_recorded = resources_.records_responses;
  const loop::Instant began = is_recorded ? resources_.loop.now() : loop::Instant();
  Response response = dispatch(resources_, target.match, request);
  Accounting::Entry* record = nullptr;
  if (is_recorded) {
    record = begin_record(request_info(head, began, &request, target.match.route, body.size()),
                          response.status());
  }
  if (head.method != Method::Head) body::ColdFiles::prepare(response.content(), resources_.loop);
  if (response.content().kind() == Body::Kind::Stream) [[unlikely]] {
    if (opens_another_protocol(response)) {
      return upgrade(head, framing, request, std::move(response), record);
    }
    return answer_with_stream(head, framing, std::move(response), std::move(request.attachments()),
                              is_last_received, record);
  }
  write(head, framing, std::move(response), is_last_received, record);
  // RFC 9112 §9.6: a client that sends `close` sends no more requests, and this one is complete.
  is_peer_done_ = !framing.keep_alive && is_last_received;
  finish_record(record);
}

Accounting::Entry* H1Protocol::begin_record(const RequestInfo& request_info, Status status,
                                            Errc error) {
  Accounting* const recorder = accounting();
  return recorder != nullptr ? &recorder->begin(request_info, status, error) : nullptr;
}

void H1Protocol::finish_record(Accounting::Entry* record) {
  if (record != nullptr) record->owner->finish(*record);
}

// Writes the response, and decides whether another request can follow.
[[gnu::always_inline]] inline void H1Protocol::write(const http::Head& head,
                                                     const h1::Framing& framing,
                                                     Response&& response, bool is_last_received,
                                                     Accounting::Entry* record) {
  // A drain or old age only closes after the last request received so far, so that all pipelined
  // requests are answered.
  const bool is_to_end = resources_.is_draining || is_old();
  if (!framing.keep_alive || response.closes_connection() || (is_to_end && is_last_received)) {
    is_finished_ = true;
  }
  const std::uint64_t content_bytes = write_response(pump_.output(), std::move(response),
                                                     {.dated = resources_.dated(),
                                                      .is_head = head.method == Method::Head,
                                                      .is_http10 = head.minor_version == 0,
                                                      .keep_alive = !is_finished_});
  ++resources_.counters.responses;
  if (record != nullptr) record->owner->wrote(*record, content_bytes);
}

void H1Protocol::write_for_exchange(Response&& response, bool is_last_received,
                                    Accounting::Entry* record) {
  write(exchange_->head(), exchange_->framing(), std::move(response), is_last_received, record);
}

bool H1Protocol::output_is_full() const noexcept {
  return pump_.output().pressure_bytes() > resources_.options.limits.output_bytes;
}

// Rounded up, as ages_at_ is rounded down.
bool H1Protocol::is_old() const noexcept {
  return resources_.loop.now().time_since_epoch().count() >> 28 > std::int64_t{ages_at_};
}

void H1Protocol::drop_partial_request() noexcept {
  if (partial_request_ != nullptr) resources_.give_back(std::move(partial_request_));
}

// Exchanges ---------------------------------------------------------------------------------------

void H1Protocol::feed(std::string_view input) {
  const Result<void> taken = exchange_->receive(input);
  if (!taken) refuse(taken.error().code());
}

// RFC 9110 §15.2.2: the new protocol follows the head.
void H1Protocol::upgrade(const http::Head& head, const h1::Framing& framing, Request& request,
                         Response&& response, Accounting::Entry* record) {
  const std::shared_ptr<const detail::Upgrade> told = (*response.content().stream())->upgrade;
  write(head, framing, std::move(response), false, record);
  finish_record(record);
  std::unique_ptr<SocketProtocol> next = told->server->on_connection(*this, *told);
  SocketProtocol& protocol = *next;
  successor_ = std::move(next);
  protocol.start(request, *told);
}

// Advances the exchange as far as possible. Once it has ended, returns the input after its request.
std::optional<std::string> H1Protocol::advance_exchange(bool is_last_received) {
  if (exchange_->has_response()) write_exchange_response(is_last_received);
  if (exchange_->has_stream_end()) {
    // RFC 9112 §8: only closing tells the peer that the content is incomplete.
    const ResponseEnd end = exchange_->end_stream();
    is_cut_ = end == ResponseEnd::TimedOut;
    if (end != ResponseEnd::Complete || !exchange_->can_keep_alive()) is_finished_ = true;
  }
  if (!exchange_has_ended()) return std::nullopt;
  std::string held = exchange_->take_held();
  resources_.give_back(std::move(exchange_));
  return held;
}

bool H1Protocol::can_resume_exchange() const noexcept {
  return exchange_->has_response() || exchange_->has_stream_end() ||
         exchange_->can_resume_input() || exchange_has_ended();
}

bool H1Protocol::exchange_has_ended() const noexcept {
  return exchange_->has_finished_response() && (is_finished_ || exchange_->is_over());
}

// Sends the streaming response of a plain handler. Its request is complete.
void H1Protocol::answer_with_stream(const http::Head& head, const h1::Framing& framing,
                                    Response&& response, Attachments&& attachments,
                                    bool is_last_received, Accounting::Entry* record) {
  exchange_ = resources_.take_exchange();
  exchange_->open(*this, pump_.output());
  exchange_->adopt(head, framing, resources_.take_inbox(), std::move(attachments));
  write_with_stream(std::move(response), is_last_received, record);
}

void H1Protocol::write_exchange_response(bool is_last_received) {
  Response response = exchange_->take_response();
  // A stream may read the rest of the request, so the peer would be asked to send it.
  if (exchange_->head().method != Method::Head && !exchange_->has_unread_body()) {
    body::ColdFiles::prepare(response.content(), resources_.loop);
  }
  Accounting::Entry* const record = begin_record(exchange_->request_info(), response.status());
  if (opens_another_protocol(response)) {
    upgrade(exchange_->head(), exchange_->framing(), exchange_->request(), std::move(response),
            record);
    return exchange_->finish_response();
  }
  if (response.content().stream() != nullptr) {
    return write_with_stream(std::move(response), is_last_received, record);
  }
  if (!exchange_->can_keep_alive()) is_finished_ = true;
  write_for_exchange(std::move(response), is_last_received, record);
  exchange_->finish_response();
  finish_record(record);
}

// A stream may keep reading the request, so only its end decides whether another one can follow.
void H1Protocol::write_with_stream(Response&& response, bool is_last_received,
                                   Accounting::Entry* record) {
  const http::Head& head = exchange_->head();
  const Status status = response.status();
  Body content = response.content();
  const BodyStream& stream = **content.stream();
  const bool is_old = head.minor_version == 0;
  // RFC 9110 §9.3.2, §6.4.1: the others have no content, so their producer does not run.
  const bool has_content = head.method != Method::Head && !is_bodiless(status);
  if (has_content && code(status) < 300) {
    exchange_->continue_request();
  } else if (!exchange_->can_keep_alive()) {
    is_finished_ = true;
  }
  // RFC 9112 §6.3: without chunks, only closing ends content of unknown length.
  if (!stream.length_bytes && is_old) is_finished_ = true;
  write_for_exchange(std::move(response), is_last_received, record);
  exchange_->begin_stream();
  if (!has_content) {
    exchange_->finish_response();
    return finish_record(record);
  }
  const bool is_chunked = !stream.length_bytes && !is_old;
  exchange_->start_stream(std::move(content), is_chunked, record);
}

}  // namespace skua::server
