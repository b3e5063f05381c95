// SPDX-License-Identifier: MIT
// Connects an HTTP/2 stream to a handler: passes on the request's content, opens the window as it
// is read, and keeps the response's content until the connection asks for it. RFC 9113 §8
#include "server/h2/server_stream.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "body/cold_files.hpp"
#include "loop/clock.hpp"
#include "server/accounting.hpp"
#include "server/date_cache.hpp"
#include "server/dispatch.hpp"
#include "server/resources.hpp"
#include "server/websocket/upgrades.hpp"
#include "skua/prepared_response.hpp"

namespace skua::server {
namespace {

constexpr std::size_t min_window_bytes = 16 * 1024;
constexpr http::Head no_trailers{};
/// Longer heads do not even wait for the end of the turn.
constexpr std::size_t short_head_bytes = 4 * 1024;

}  // namespace

std::size_t stream_window_bytes(const Limits& limits) noexcept {
  return std::clamp<std::size_t>(limits.stream_bytes, min_window_bytes, 0x7FFF'FFFF);
}

void ServerStream::open(ProtocolOwner& owner, const net::Stream& connection,
                        h2::Connection& protocol, h2::Stream& stream, H2Turn& turn) noexcept {
  owner_ = &owner;
  transport_ = &connection;
  h2_ = &protocol;
  stream_ = &stream;
  turn_ = &turn;
  phase_ = Phase::Request;
  wake();
}

void ServerStream::reset() noexcept {
  phase_ = Phase::Closed;  // discards anything that destructors write
  TimerNode::stop();
  turn_node_.unlink();
  record_ = nullptr;
  socket_.reset();
  response_.reset();
  forget_kept();
  run_.reset();
  trailers_.reset();
  if (held_bytes_ != 0) {
    turn_->heads.give_back(resources_.content_budget, std::exchange(held_bytes_, 0));
  }
  early_data_.clear();
  content_.clear();
  dropped_bytes_ = 0;
  has_run_ = false;
  content_state_ = Content::Open;
  end_ = ResponseEnd::Complete;
  is_timer_due_ = closes_connection_ = false;
}

// The request -------------------------------------------------------------------------------------

void ServerStream::begin(bool is_end) {
  serve(is_end);
  if (stream_->head_bytes() > short_head_bytes && has_useless_head()) [[unlikely]]
    forget_head();
}

bool ServerStream::hold(std::size_t bytes) noexcept {
  if (!turn_->heads.take(resources_.options.limits, resources_.content_budget, bytes)) return false;
  held_bytes_ += bytes;
  return true;
}

void ServerStream::serve(bool is_end) {
  ++resources_.counters.requests;
  arrived_ = resources_.loop.now();
  if (request().error != Errc::None) return refuse(request().error);
  const Target target = find();
  if (target.error != Errc::None) return refuse(target.error);
  const bool has_no_content = is_end || is_for_tunnel();
  if (target.match.has_coroutine || !has_no_content) return start_run(target, has_no_content);
  answer(target);
}

Target ServerStream::find() {
  // RFC 9110 §9.3.6: CONNECT is for proxies only; RFC 9220 §3: other protocols get a 501.
  const Method method = request().head.method;
  const bool is_websocket = ascii::equals_ignoring_case(request().protocol, "websocket");
  if (method == Method::Connect && !is_websocket) return {Errc::UnknownMethod, {}, {}, {}};
  return find_target(resources_, *transport_, method, request().host, request().path_and_query);
}

http::RequestParts ServerStream::parts(const Target& target) const noexcept {
  return {.head = &request().head,
          .path = target.path,
          .query = target.query,
          .host = request().host,
          .peer = peer_of,
          .peer_context = transport_,
          .origins = resources_.origins,
          .connection = owner_,
          .is_secure = transport_->is_secure(),
          .is_path_as_sent = target.is_path_as_sent,
          .upgrade = request().protocol};
}

void ServerStream::start_run(const Target& target, bool has_no_content) {
  const bool is_plain = !target.match.has_coroutine;
  const std::uint64_t max_bytes = max_content_bytes(resources_.options.limits, target.match);
  const bool is_too_long = request().length_bytes.value_or(0) > max_bytes;
  has_run_ = true;
  http::RequestParts known = parts(target);
  known.may_have_more_content = !has_no_content && request().length_bytes != 0;
  known.length_bytes = request().length_bytes;
  run_.prepare(*this, known, target.match);
  if (is_too_long && !is_plain) return refuse(Errc::BodyTooLong);
  if (!hold(stream_->head_bytes())) return refuse(Errc::Overloaded);
  if (has_no_content) {
    run_.end_body(no_trailers);
  } else {
    run_.body().expect(*this, {.max_bytes = max_bytes,
                               .length_bytes = request().length_bytes,
                               .limits = &target.match.scope->limits,
                               .peer_waits = request().expect_continue});
  }
  run_.start_handler();
  if (run_.keeps_content()) {
    if (is_too_long) return refuse(Errc::BodyTooLong);
    body_wanted();
  }
  if (can_advance()) advance();
}

void ServerStream::receive(std::string_view data) {
  if (socket_ != nullptr) return socket_->receive(data);
  // The peer did not wait for the response. Its data is kept until then, bounded by the window.
  if (is_for_tunnel() && !has_response()) {
    const Errc error = early_data_.append(data);
    return error != Errc::None ? refuse(error) : void();
  }
  IncomingBody& body = run_.body();
  if (!is_body_wanted() || !body.is_arriving()) return drop(data.size());
  Errc error = body.received(data.size());
  if (error == Errc::None) error = body.append(data);
  if (error != Errc::None) {
    drop(data.size());
    return refuse(error);
  }
  update_hold_back();
}

// Discards as much as HTTP/1 would read to keep a connection. After that the window stays shut: a
// peer that ignores the response waits until it receives a reset.
void ServerStream::drop(std::size_t size_bytes) {
  dropped_bytes_ += size_bytes;
  if (dropped_bytes_ > resources_.options.limits.unread_body_bytes) return;
  h2_->consume(*stream_, size_bytes);
}

void ServerStream::open_window() {
  wake();
  h2_->consume(*stream_, std::exchange(withheld_bytes_, 0));
  update_hold_back();
}

void ServerStream::forget_kept() noexcept {
  withheld_bytes_ = 0;
  if (kept_bytes() != 0) turn_->has_windows = true;
}

// With only half of its window left, the peer may wait for more instead of sending.
void ServerStream::update_hold_back() noexcept {
  IncomingBody& body = run_.body();
  body.hold_back(body.unread_bytes() != 0 || withheld_bytes_ >= stream_->window_bytes() / 2);
}

void ServerStream::receive_end(std::unique_ptr<h2::ReceivedHead> trailers) {
  if (socket_ != nullptr) return socket_->receive_end();
  if (!has_run_) return;
  if (trailers != nullptr && is_body_wanted()) {
    if (!hold(trailers->builder.list_bytes())) return refuse(Errc::Overloaded);
    trailers_ = std::move(trailers);
  }
  run_.end_body(trailers_ != nullptr ? trailers_->head : no_trailers);
  if (!has_response() && can_advance()) advance();
}

void ServerStream::body_wanted() {
  if (!run_.body().take_continue()) return;
  // RFC 9110 §10.1.1. After a response, the peer has to send or time out.
  if (!has_response()) h2_->inform(*stream_, Status::Continue, FieldLines());
  wake();
}

void ServerStream::inform(Status status, const FieldLines& fields) {
  if (phase_ == Phase::Closed || has_response()) return;
  h2_->inform(*stream_, status, fields);
  wake();
}

void ServerStream::body_taken(std::size_t size_bytes) {
  if (phase_ == Phase::Closed) return;
  if (kept_bytes() != 0) {
    withheld_bytes_ += size_bytes;  // this piece is kept, too
    turn_->has_windows = true;
  } else {
    h2_->consume(*stream_, size_bytes);
  }
  update_hold_back();
  wake();
}

// The response ------------------------------------------------------------------------------------

void ServerStream::answer(const Target& target) {
  const http::RequestParts known = parts(target);
  Request request(known);
  Response response = dispatch(resources_, target.match, request);
  const RequestInfo told =
      request_info(this->request().head, arrived_, &request, target.match.route, 0);
  if (opens_another_protocol(response)) return open_socket(told, request, std::move(response));
  run_.keep(std::move(request.attachments()));
  send(told, std::move(response));
}

void ServerStream::wake() noexcept {
  if (phase_ == Phase::Closed) return;
  if (!turn_node_.is_linked()) turn_->exchanges.push_back(turn_node_);
  owner_->settle_later();
}

void ServerStream::take_turn() {
  if (std::exchange(is_timer_due_, false) && deadline() <= resources_.loop.now()) {
    time_out();
  } else if (can_advance()) {
    advance();
  }
}

void ServerStream::finish_turn() noexcept {
  if (can_advance()) return;
  if (has_useless_head()) forget_head();
  turn_node_.unlink();
  const loop::Instant end = deadline();
  if (end == loop::Instant::max()) {
    TimerNode::stop();
  } else {
    resources_.loop.timers().start(*this, end - resources_.loop.now());
  }
}

bool ServerStream::can_advance() const noexcept {
  if (socket_ != nullptr) return socket_->can_advance();
  return has_response() ? response_.is_made() : has_run_ && run_.is_handler_done();
}

void ServerStream::advance() {
  if (socket_ != nullptr) return socket_->advance();
  if (!has_response() && run_.is_handler_done()) {
    if (withheld_bytes_ != 0) open_window();  // the response's producer may read on
    forget_kept();
    Response response = run_.take_response();
    const RequestInfo request_info = run_.request_info(request().head, arrived_);
    if (opens_another_protocol(response)) {
      return open_socket(request_info, run_.request(), std::move(response));
    }
    send(request_info, std::move(response));
  }
  if (response_.is_made()) end_stream();
}

void ServerStream::send(const RequestInfo& request_info, Response&& response, Errc error) {
  status_ = response.status();
  // RFC 9110 §9.3.6: the peer would take a 2xx for an open tunnel, but nothing serves it.
  if (is_for_tunnel() && code(status_) / 100 == 2) {
    return send(request_info, Response{Error(Errc::UnknownMethod)}, Errc::UnknownMethod);
  }
  // The response's producer may read the request's content.
  const bool is_stream = response.content().kind() == Body::Kind::Stream;
  if (is_stream && code(status_) < 300 && !is_bodiless(status_)) body_wanted();
  phase_ = Phase::Response;
  begin_record(request_info, error);
  closes_connection_ = response.closes_connection();
  ++resources_.counters.responses;
  h2::ResponseHead head = head_of(response);
  Body& content = response.content();
  if (request().head.method != Method::Head) body::ColdFiles::prepare(content, resources_.loop);
  if (content.kind() == Body::Kind::Stream) return send_stream(head, std::move(content));

  const std::uint64_t size_bytes = content.size_bytes();
  // RFC 9110 §8.6: no Content-Length in 1xx and 204; a 304 would need that of the 200.
  if (!is_bodiless(status_)) head.length_bytes = size_bytes;
  const bool has_content =
      size_bytes != 0 && !is_bodiless(status_) && request().head.method != Method::Head;
  content_state_ = Content::Ended;
  if (has_content) keep(std::move(content));
  respond(head, has_content);
}

// Returns the response's head without a length.
h2::ResponseHead ServerStream::head_of(const Response& response) {
  h2::ResponseHead head{.status = response.status(),
                        .content_type = response.static_type(),
                        .fields = &response.lines()};
  if (const PreparedResponse* const prepared = response.prepared()) {
    head.content_type = prepared->static_type();
    head.prepared_fields = &prepared->lines();
  }
  const DateCache& dated = resources_.dated();
  const std::uint64_t known = response.known_fields();
  if (!has(known, http::FieldName::Date)) head.date = dated.date();
  if (!has(known, http::FieldName::Server)) head.server = dated.server();
  return head;
}

// The end -----------------------------------------------------------------------------------------

void ServerStream::close(bool is_complete) noexcept {
  if (socket_ != nullptr) return socket_->close();
  if (run_.is_running() || response_.is_making()) ++resources_.counters.handlers_cancelled;
  const bool is_cut = !is_complete || content_state_ != Content::Ended || !content_.empty();
  if (is_cut && end_ == ResponseEnd::Complete && record_ != nullptr) {
    end_ = record_->owner->why_ended();
  }
  finish_record(is_cut ? end_ : ResponseEnd::Complete);
}

void ServerStream::begin_record(const RequestInfo& request_info, Errc error) {
  if (!resources_.records_responses) return;
  record_ = &owner_->accounting()->begin(request_info, status_, error);
}

// Writes the head of the response.
void ServerStream::respond(const h2::ResponseHead& head, bool has_content) {
  h2_->respond(*stream_, head, has_content);
  if (record_ != nullptr) record_->owner->wrote_head(*record_);
}

void ServerStream::finish_record(ResponseEnd end) {
  Accounting::Entry* const record = std::exchange(record_, nullptr);
  if (record == nullptr) return;
  if (has_run_) Accounting::received(*record, run_.body().received_bytes());
  record->owner->finish(*record, end);
}

loop::Instant ServerStream::deadline() const noexcept {
  if (socket_ != nullptr) return socket_->deadline().value_or(loop::Instant::max());
  if (phase_ == Phase::Lingering) return lingers_until_;
  loop::Instant end = has_run_ && !has_response() ? run_.deadline() : loop::Instant::max();
  end = std::min(end, body_deadline());
  return content_.empty() ? end : std::min(end, content_deadline_);
}

// The content of the response ---------------------------------------------------------------------

void ServerStream::send_stream(const h2::ResponseHead& head, Body&& content) {
  h2::ResponseHead told = head;
  if (!is_bodiless(status_)) told.length_bytes = (*content.stream())->length_bytes;
  // RFC 9110 §9.3.2, §6.4.1: these have no content, so their producer does not run.
  const bool is_empty = (*content.stream())->is_empty;
  if (request().head.method == Method::Head || is_bodiless(status_) || is_empty) {
    content_state_ = Content::Ended;
    return respond(told, false);
  }
  respond(told, true);
  response_.start(*this, std::move(content), resources_.options.limits.stream_bytes);
  if (resources_.is_draining) drain();
  if (response_.is_made()) end_stream();
}

void ServerStream::end_stream() {
  const std::exception_ptr failure = response_.end();
  if (response_.is_cut()) return cut_off();
  content_state_ = Content::Ended;
  if (failure != nullptr) fail_stream(failure);
  h2_->resume_body(*stream_);
}

void ServerStream::keep(Body&& piece) {
  if (content_.empty()) {
    content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  }
  content_.append(std::move(piece));
}

void ServerStream::write_content(Body&& piece) {
  if (phase_ == Phase::Closed) return;
  keep(std::move(piece));
  h2_->resume_body(*stream_);
  wake();
}

void ServerStream::write_content_text(std::string_view text) {
  if (phase_ == Phase::Closed) return;
  if (content_.empty() && text.size() >= body::long_text_bytes) {
    const h2::SentNow now = h2_->send_now(*stream_, text);
    text.remove_prefix(now.content_bytes);
    if (record_ != nullptr && now.sent_bytes != 0) {
      const std::size_t sent_content = now.content_bytes - now.appended_bytes;
      record_->owner->sent_at_once(*record_, sent_content, now.sent_bytes);
      record_->owner->wrote(*record_, now.appended_bytes, now.head_bytes);
    }
    wake();
  }
  Framer::write_content_text(text);
}

h2::BodyRead ServerStream::read_body(std::size_t max_bytes) noexcept {
  if (socket_ != nullptr) return socket_->read_body(max_bytes);
  using State = h2::BodyRead::State;
  const std::size_t size_bytes = content_.frame_bytes(max_bytes);
  if (content_state_ == Content::Open || size_bytes != content_.size_bytes())
    return {.bytes = size_bytes, .state = State::More};
  if (content_state_ == Content::Ended) {
    return {.bytes = size_bytes, .state = State::End, .trailers = response_.trailers().wire()};
  }
  return {.bytes = size_bytes,
          .state = size_bytes == 0 ? State::Failed : State::More,
          .failed_with = failed_with_};
}

void ServerStream::write_data(net::OutputQueue& output, std::string_view head,
                              std::size_t size_bytes) {
  if (socket_ != nullptr) return socket_->write_data(output, head, size_bytes);
  content_deadline_ = later(resources_.loop.now(), resources_.options.timeouts.write);
  const bool is_whole = content_.move_to(output, head, size_bytes);
  if (record_ != nullptr) record_->owner->wrote(*record_, size_bytes, head.size());
  response_.drained();
  if (is_whole || content_state_ == Content::Failed) return;
  // The frame's length was already sent, so it was padded with zeros. The reset tells the peer.
  content_state_ = Content::Failed;
  end_ = ResponseEnd::Failed;
  h2_->reset(*stream_, h2::ErrorCode::InternalError);
}

}  // namespace skua::server
