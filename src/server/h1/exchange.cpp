// SPDX-License-Identifier: MIT
// Connects HTTP/1.x to a handler's run: decodes the request's content, frames the response's
// content, and decides when either side has to wait. RFC 9112 §6, §7.
#include "server/h1/exchange.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "body/outgoing_body.hpp"
#include "http/uri/target_path.hpp"
#include "loop/clock.hpp"
#include "server/dispatch.hpp"
#include "server/resources.hpp"

namespace skua::server {
namespace {

constexpr std::size_t held_bytes_at_most = 64 * 1024;

}  // namespace

H1Exchange::H1Exchange(Resources& resources) noexcept : resources_(resources), run_(resources) {}

H1Exchange::~H1Exchange() = default;

void H1Exchange::open(ProtocolOwner& owner, net::OutputQueue& output) noexcept {
  owner_ = &owner;
  output_ = &output;
}

void H1Exchange::reset() noexcept {
  if (record_ != nullptr) finish_record(record_->owner->why_ended());
  response_.reset();
  run_.reset();
  if (partial_request_ != nullptr) resources_.give_back(std::move(partial_request_));
  held_.clear();
  if (held_.capacity() > held_bytes_at_most) held_.shrink_to_fit();
  is_chunked_ = false;
  response_state_ = ResponseState::Awaited;
}

const http::Head& H1Exchange::head() const noexcept { return partial_request_->head; }
const h1::Framing& H1Exchange::framing() const noexcept { return partial_request_->framing; }
RequestInfo H1Exchange::request_info() const noexcept {
  return run_.request_info(partial_request_->head, partial_request_->began);
}

// The request's body ------------------------------------------------------------------------------

Result<std::string_view> H1Exchange::start(const http::Head& head, const h1::Framing& framing,
                                           http::RequestParts parts, const router::Match& match,
                                           std::unique_ptr<PartialRequest> partial_request,
                                           std::string_view rest) {
  const Limits& limits = resources_.options.limits;
  partial_request_ = std::move(partial_request);
  partial_request_->take(head, framing);
  partial_request_->began = resources_.loop.now();
  const std::uint64_t max_bytes = max_body_bytes(framing, match);
  parts.head = &partial_request_->head;
  parts.host = partial_request_->framing.host;
  parts.upgrade = partial_request_->framing.upgrade;
  parts.query = http::split_target(partial_request_->framing.path_and_query).query;
  parts.may_have_more_content = framing.body != h1::BodyKind::None;
  if (framing.body == h1::BodyKind::Length) parts.length_bytes = framing.length_bytes;
  run_.prepare(*this, parts, match);
  const Result<void> started =
      partial_request_->decoder.start(framing, {.body_bytes = max_bytes,
                                                .extension_bytes = limits.chunk_extension_bytes,
                                                .trailer_bytes = limits.trailer_bytes,
                                                .trailer_fields = limits.trailer_fields});
  if (!started) return started.error();
  if (parts.may_have_more_content) {
    run_.body().expect(*this, {.max_bytes = max_bytes,
                               .length_bytes = parts.length_bytes,
                               .limits = &match.scope->limits,
                               .peer_waits = framing.expect_continue && rest.empty()});
  }
  // A coroutine starts with the content already here; guards of a plain handler do not need any.
  if (!match.has_coroutine) {
    run_.start_handler();
    if (run_.keeps_content()) {
      if (framing.length_bytes > max_content_bytes(limits, match)) return Error(Errc::BodyTooLong);
      continue_request();
    }
  }
  if (!parts.may_have_more_content) {
    run_.end_body(partial_request_->decoder.trailers());
  } else {
    Result<std::string_view> behind = decode(rest);
    if (!behind) return behind;
    rest = *behind;
  }
  if (match.has_coroutine) run_.start_handler();
  return rest;
}

// A known length is checked after the guards of a plain handler have run; unwanted content is
// bounded by can_keep_alive().
std::uint64_t H1Exchange::max_body_bytes(const h1::Framing& framing,
                                         const router::Match& match) const noexcept {
  const bool is_told = framing.body == h1::BodyKind::Length;
  if (!match.has_coroutine && (is_told || match.route == nullptr)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return max_content_bytes(resources_.options.limits, match);
}

void H1Exchange::adopt(const http::Head& head, const h1::Framing& framing,
                       std::unique_ptr<PartialRequest> partial_request, Attachments&& attachments) {
  partial_request_ = std::move(partial_request);
  partial_request_->take(head, framing);
  run_.keep(std::move(attachments));
}

// Decodes content into the body until there is no room. Returns the rest of the input.
Result<std::string_view> H1Exchange::decode(std::string_view input) {
  h1::BodyDecoder& decoder = partial_request_->decoder;
  IncomingBody& body = run_.body();
  while (!input.empty() && body.is_arriving() && body.has_room()) {
    const h1::BodyDecoder::Step step = decoder.step(input);
    input.remove_prefix(step.consumed_bytes);
    if (step.status == h1::BodyStatus::Failed) return Error(decoder.error());
    const bool is_done = step.status == h1::BodyStatus::Done;
    Errc error = Errc::None;
    if (is_done) {
      body.received_last(step.data.size());
    } else {
      error = body.received(step.data.size());
    }
    if (error == Errc::None) error = body.append(step.data);
    if (error != Errc::None) return Error(error);
    if (is_done) run_.end_body(decoder.trailers());
  }
  body.hold_back(body.is_arriving() && !body.has_room());
  return input;
}

Result<void> H1Exchange::receive(std::string_view input) {
  if (held_.empty() && body().is_arriving()) {
    const Result<std::string_view> rest = decode(input);
    if (!rest) return rest.error();
    input = *rest;
  }
  held_.append(input);
  return {};
}

Result<void> H1Exchange::resume_input() {
  const std::string held = std::exchange(held_, {});
  return receive(held);
}

bool H1Exchange::wants_input() const noexcept {
  if (!body().is_arriving()) return held_.size() < held_bytes_at_most;
  return held_.empty() && body().has_room();
}

loop::Instant H1Exchange::deadline() const noexcept {
  const loop::Instant of_handler = is_handler_timed() ? run_.deadline() : loop::Instant::max();
  return std::min(body().deadline(), of_handler);
}

Errc H1Exchange::overdue() const noexcept {
  const bool is_handler = is_handler_timed() && run_.deadline() <= resources_.loop.now();
  return is_handler ? Errc::HandlerTimedOut : Errc::TimedOut;
}

void H1Exchange::continue_request() {
  if (!run_.body().take_continue()) return;
  output_->append("HTTP/1.1 100 Continue\r\n\r\n");  // RFC 9110 §10.1.1
}

void H1Exchange::body_wanted() {
  if (has_started_response()) {
    (void)run_.body().take_continue();  // too late to send it: the peer has to send or time out
  } else {
    continue_request();
  }
  owner_->settle_later();
}

// RFC 9110 §15.2: HTTP/1.0 has no interim responses.
void H1Exchange::inform(Status status, const FieldLines& fields) {
  if (has_started_response() || head().version() == Version::Http10) return;
  std::string text = "HTTP/1.1 " + std::to_string(std::uint64_t{code(status)}) + " ";
  text.append(reason(status)).append("\r\n");
  for (const auto& line : fields)
    text.append(line.name).append(": ").append(line.value).append("\r\n");
  output_->append(text.append("\r\n"));
  owner_->settle_later();
}

void H1Exchange::body_taken(std::size_t) {
  if (body().is_held_back()) owner_->settle_later();
}

// The response ------------------------------------------------------------------------------------

bool H1Exchange::has_response() const noexcept {
  return !has_started_response() && run_.is_handler_done();
}

// RFC 9112 §9.3: read the body or close. A short unread rest is read and dropped.
bool H1Exchange::can_keep_alive() const noexcept {
  if (!body().is_arriving()) return true;
  const h1::Framing& framing = partial_request_->framing;
  return !body().owes_continue() && framing.body == h1::BodyKind::Length &&
         framing.length_bytes - partial_request_->decoder.content_bytes() <=
             resources_.options.limits.unread_body_bytes;
}

void H1Exchange::start_stream(Body&& content, bool is_chunked, Accounting::Entry* record) {
  is_chunked_ = is_chunked;
  record_ = record;
  response_.start(*this, std::move(content), resources_.options.limits.stream_bytes);
  if (resources_.is_draining) drain();
}

ResponseEnd H1Exchange::end_stream() {
  const std::exception_ptr failure = response_.end();
  ResponseEnd end = ResponseEnd::Complete;
  if (response_.is_cut()) {
    ++resources_.counters.refused_slow;
    end = ResponseEnd::TimedOut;
  } else if (failure != nullptr) {
    log_task_failure(resources_, "a stream failed", failure);
    end = ResponseEnd::Failed;
  } else if (is_chunked_) {
    body::append_last_chunk(*output_, response_.trailers());
  }
  finish_response();
  finish_record(end);
  return end;
}

void H1Exchange::finish_record(ResponseEnd end) {
  Accounting::Entry* const record = std::exchange(record_, nullptr);
  if (record == nullptr) return;
  Accounting::received(*record, body().received_bytes());
  record->owner->finish(*record, end);
}

void H1Exchange::drain() {
  if (!response_.is_making() || !response_.is_endless()) return;
  response_.stop();
  owner_->settle_later();
}

void H1Exchange::write_content(Body&& piece) {
  const std::uint64_t size_bytes = piece.size_bytes();
  if (is_chunked_) {
    body::append_chunk(*output_, std::move(piece));
  } else {
    output_->append_piece(std::move(piece));
  }
  if (record_ != nullptr) record_->owner->wrote(*record_, size_bytes);
  owner_->settle_later();
}

void H1Exchange::write_content_text(std::string_view text) {
  const body::TextToSend sending(text, is_chunked_);
  const std::size_t sent = sending.is_long() ? owner_->send_now(sending.slices()) : 0;
  const std::size_t sent_text = sending.text_bytes_of(sent);
  if (record_ != nullptr && sent != 0) record_->owner->sent_at_once(*record_, sent_text, sent);
  sending.append_rest(*output_, sent);
  if (record_ != nullptr) record_->owner->wrote(*record_, text.size() - sent_text);
  owner_->settle_later();
}

}  // namespace skua::server
