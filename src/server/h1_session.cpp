// SPDX-License-Identifier: MIT
// Bytes in, responses out. A message that arrives whole, which is nearly every one, is parsed and
// answered where it lies, in the loop's buffer; only an unfinished one is copied into an Inbox from
// the worker's pool. Whatever a peer does wrong ends in refuse(): an answer, and no attempt to find
// the next message. RFC 9112 §11.
#include "server/h1_session.hpp"

#include <string>
#include <utility>

#include "http/request_parts.hpp"
#include "http/target_path.hpp"
#include "server/dispatch.hpp"
#include "server/h1_writer.hpp"

namespace skua::server {
namespace {

std::string peer_of(const void* stream) {
  return static_cast<const net::Stream*>(stream)->peer().to_string();
}

base::Counter& refusal_counter(WorkerCounters& counters, Errc code) noexcept {
  switch (status_for(code)) {
    case Status::RequestTimeout: return counters.refused_slow;
    case Status::ContentTooLarge:
    case Status::UriTooLong:
    case Status::RequestHeaderFieldsTooLarge: return counters.refused_too_large;
    default: return counters.refused_malformed;
  }
}

std::string_view value_or_empty(const http::Head& head, http::FieldName name) noexcept {
  const http::FieldLine* line = head.find(name);
  return line != nullptr ? head.value(*line) : std::string_view();
}

// +-10 %, so that the connections of one moment do not all end in one moment.
Duration jittered(Duration age, const void* seed) noexcept {
  const auto spread =
      static_cast<Duration::rep>(reinterpret_cast<std::uintptr_t>(seed) >> 6 & 0xFF);
  return age / 10 * 9 + age / 5 * spread / 255;
}

}  // namespace

H1Session::H1Session(Resources& resources, const net::Stream& stream, OutputQueue& output) noexcept
    : resources_(resources),
      stream_(stream),
      output_(output),
      ages_at_(resources.loop.now() + jittered(resources.options.timeouts.connection_age, this)) {}

H1Session::~H1Session() { drop_inbox(); }

void H1Session::receive(std::string_view input) {
  if (is_stalled_) return stall(input);  // bytes that were on their way when reading stopped
  while (!input.empty() && !is_finished_) {
    if (waiting_ == Waiting::Body) {
      input = read_body(input);
    } else if (output_is_full()) {
      return stall(input);
    } else {
      input = read_head(input);
    }
  }
}

void H1Session::resume() {
  if (!is_stalled_ || output_is_full()) return;
  is_stalled_ = false;
  const std::string held = std::move(inbox_->input);
  drop_inbox();
  receive(held);
}

void H1Session::receive_end() {
  // RFC 9112 §8: a body that ends early is an incomplete message.
  if (waiting_ == Waiting::Body) return refuse(Errc::TruncatedBody);
  if (!is_stalled_) is_finished_ = true;
}

void H1Session::time_out() { refuse(Errc::TimedOut); }

std::string_view H1Session::read_head(std::string_view input) {
  if (inbox_ == nullptr) {
    h1::HeadParser& parser = resources_.parser;
    parser.reset();
    switch (parser.parse(input)) {
      case h1::ParseStatus::NeedMore: keep_head(input); return {};
      case h1::ParseStatus::Failed: refuse(parser.error()); return {};
      case h1::ParseStatus::Complete: break;
    }
    return begin(parser.head(), input.substr(parser.head().size_bytes));
  }
  Inbox& box = *inbox_;
  const std::size_t held = box.input.size();
  box.input.append(input);
  switch (box.parser.parse(box.input)) {
    case h1::ParseStatus::NeedMore: return {};
    case h1::ParseStatus::Failed: refuse(box.parser.error()); return {};
    case h1::ParseStatus::Complete: break;
  }
  const http::Head& head = box.parser.head();
  waiting_ = Waiting::Request;
  const std::string_view rest = begin(head, input.substr(head.size_bytes - held));
  if (waiting_ == Waiting::Request) drop_inbox();
  return rest;
}

void H1Session::keep_head(std::string_view input) {
  Inbox& box = inbox();
  box.parser.continue_from(resources_.parser);
  box.input.assign(input);
  waiting_ = Waiting::Head;
  box.deadline = resources_.loop.now() + resources_.options.timeouts.head;
}

// The head is there: answers at once if the body is, too.
std::string_view H1Session::begin(const http::Head& head, std::string_view rest) {
  ++resources_.counters.requests;
  const Result<h1::Framing> framing = h1::frame_request(head, resources_.known_host);
  if (!framing) return refuse(framing.error().code()), std::string_view();
  if (framing->body == h1::BodyKind::None) {
    answer(head, *framing, {}, rest.empty());
    return rest;
  }
  const Limits& limits = resources_.options.limits;
  const std::uint64_t length = framing->length_bytes;
  if (framing->body == h1::BodyKind::Length && length <= rest.size() &&
      length <= limits.body_bytes) {
    answer(head, *framing, rest.substr(0, length), length == rest.size());
    return rest.substr(length);
  }
  begin_body(head, *framing, rest.empty());
  return is_finished_ ? std::string_view() : rest;
}

// Whether somebody wants the body is decided before it is read.
void H1Session::begin_body(const http::Head& head, const h1::Framing& framing, bool peer_waits) {
  const Limits& limits = resources_.options.limits;
  const Result<std::string_view> path = canonical(framing.path_and_query).path;
  if (!path) return refuse(Errc::MalformedTarget);
  const bool discards = resources_.router.match(head.method, *path).route == nullptr;
  const std::uint64_t limit = discards ? limits.unread_body_bytes : limits.body_bytes;
  if (framing.length_bytes > limit || (discards && framing.expect_continue)) {
    if (!discards) return refuse(Errc::BodyTooLong);
    // RFC 9110 §10.1.1: a final status instead of 100; RFC 9112 §9.3: read the body or close.
    h1::Framing closing = framing;
    closing.keep_alive = false;
    return answer(head, closing, {}, true);
  }
  // RFC 9110 §10.1.1: not needed when the content is on its way already.
  if (framing.expect_continue && peer_waits) output_.append("HTTP/1.1 100 Continue\r\n\r\n");

  Inbox& box = inbox();
  box.take_head(head);
  box.framing = *h1::frame_request(box.head);
  const Result<void> started = box.decoder.start(
      box.framing, {.body_bytes = limit,
                    .extension_bytes = static_cast<std::uint32_t>(limits.chunk_extension_bytes),
                    .trailer_bytes = static_cast<std::uint32_t>(limits.trailer_bytes),
                    .trailer_fields = limits.trailer_fields});
  if (!started) return refuse(started.error().code());
  waiting_ = Waiting::Body;
  box.discards_body = discards;
  box.body_began = resources_.loop.now();
  box.deadline = box.body_began + resources_.options.timeouts.body;
}

std::string_view H1Session::read_body(std::string_view input) {
  Inbox& box = *inbox_;
  while (!input.empty()) {
    const h1::BodyDecoder::Step step = box.decoder.step(input);
    input.remove_prefix(step.consumed_bytes);
    if (!box.discards_body) box.body.append(step.data);
    if (step.status == h1::BodyStatus::More) continue;
    const bool failed = step.status == h1::BodyStatus::Failed;
    if (failed && !(box.discards_body && box.decoder.error() == Errc::BodyTooLong)) {
      return refuse(box.decoder.error()), std::string_view();
    }
    if (failed) box.framing.keep_alive = false;  // more of it than we care to read
    waiting_ = Waiting::Request;
    answer(box.head, box.framing, box.body, input.empty());
    drop_inbox();
    return input;
  }
  const loop::Instant now = resources_.loop.now();
  if (is_too_slow(now)) return refuse(Errc::TooSlow), std::string_view();
  box.deadline = now + resources_.options.timeouts.body;
  return input;
}

bool H1Session::is_too_slow(loop::Instant now) const noexcept {
  const Duration spent = now - inbox_->body_began;
  if (spent < resources_.options.timeouts.body_grace) return false;
  const auto seconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(spent).count());
  return inbox_->decoder.content_bytes() <
         seconds * resources_.options.limits.body_bytes_per_second;
}

void H1Session::answer(const http::Head& head, const h1::Framing& framing, std::string_view body,
                       bool is_last_received) {
  // RFC 9110 §9.3.6: only a proxy has a use for CONNECT.
  if (framing.form == h1::TargetForm::Authority) return refuse(Errc::UnknownMethod);
  const auto [path, query] = canonical(framing.path_and_query);
  if (!path) return refuse(Errc::MalformedTarget);
  const http::RequestParts parts{.head = &head,
                                 .path = *path,
                                 .query = query,
                                 .host = framing.host,
                                 .body = body,
                                 .peer = peer_of,
                                 .peer_context = &stream_};
  Request request(parts);
  const router::Match match = resources_.router.match(head.method, *path);
  Response response = dispatch(resources_, match, request);

  // We close of our own accord only behind the last request that is here: whoever pipelined has all
  // of them answered.
  const bool is_to_end = resources_.is_draining || resources_.loop.now() >= ages_at_;
  if (!framing.keep_alive || (is_to_end && is_last_received)) is_finished_ = true;
  const Status status = response.status();
  const bool is_head = head.method == Method::Head;
  const std::uint64_t content_bytes = is_head ? 0 : response.content().size_bytes();
  write_response(output_, std::move(response),
                 {.dated = resources_.dated(),
                  .is_head = is_head,
                  .is_http10 = head.minor_version == 0,
                  .keep_alive = !is_finished_});
  ++resources_.counters.responses;
  if (const auto& tell = resources_.options.hooks.on_response) {
    const std::string peer = peer_of(&stream_);
    tell({.peer = peer,
          .target = head.target(),
          .referer = value_or_empty(head, http::FieldName::Referer),
          .user_agent = value_or_empty(head, http::FieldName::UserAgent),
          .method = head.method,
          .minor_version = head.minor_version,
          .status = status,
          .body_bytes = content_bytes});
  }
}

void H1Session::refuse(Errc code) {
  is_finished_ = true;
  waiting_ = Waiting::Request;
  drop_inbox();
  Response response{Error(code)};
  const std::uint64_t content_bytes = response.content().size_bytes();
  write_response(output_, std::move(response), {.dated = resources_.dated(), .keep_alive = false});
  ++refusal_counter(resources_.counters, code);
  ++resources_.counters.responses;
  if (const auto& tell = resources_.options.hooks.on_response) {
    const std::string peer = peer_of(&stream_);
    tell({.peer = peer, .status = status_for(code), .body_bytes = content_bytes, .error = code});
  }
}

H1Session::CanonicalTarget H1Session::canonical(std::string_view path_and_query) const noexcept {
  const http::TargetParts parts = http::split_target(path_and_query);
  return {http::canonical_path(parts.path, resources_.path_scratch), parts.query};
}

void H1Session::stall(std::string_view input) {
  is_stalled_ = true;
  inbox().input.append(input);
}

bool H1Session::output_is_full() const noexcept {
  return output_.pressure_bytes() > resources_.options.limits.output_bytes;
}

Inbox& H1Session::inbox() {
  if (inbox_ == nullptr) inbox_ = resources_.take_inbox();
  return *inbox_;
}

void H1Session::drop_inbox() noexcept {
  if (inbox_ != nullptr) resources_.give_back(std::move(inbox_));
}

}  // namespace skua::server
