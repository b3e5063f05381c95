// SPDX-License-Identifier: MIT
// Copies the text that a head refers to. Offsets into it stay the same.
#include "client/wire/incoming_response.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <new>
#include <utility>

#include "client/problem.hpp"
#include "client/waiting.hpp"
#include "loop/clock.hpp"
#include "skua/body.hpp"

namespace skua::client {
namespace {

// HTTP/2 has no start line, and its `size_bytes` need not cover all text that is referred to.
std::size_t extent(const http::Head& head) noexcept {
  std::uint32_t end = head.target_begin + head.target_bytes;
  for (const http::FieldLine& line : head.fields) {
    end = std::max({end, line.name_begin + line.name_bytes, line.value_begin + line.value_bytes});
  }
  return end;
}

}  // namespace

KeptHead::KeptHead(const http::Head& head)
    : lines_(head.fields.begin(), head.fields.end()), head_(head) {
  if (head.base != nullptr) text_.assign(head.base, extent(head));
  point();
}

KeptHead& KeptHead::operator=(KeptHead&& other) noexcept {
  text_ = std::move(other.text_);
  lines_ = std::move(other.lines_);
  head_ = other.head_;
  point();
  other.lines_.clear();
  other.point();
  return *this;
}

void KeptHead::point() noexcept {
  head_.base = text_.data();
  head_.fields = lines_;
}

// In: content from the exchange, as it was sent. Out: decoded content, a piece at a time. Once it
// is complete the connection is given back, however long the response is held.

namespace {

using Event = h1::ResponseEvent;

constexpr std::size_t decoded_piece_bytes = 32 * 1024;
constexpr std::size_t discarded_bytes = 64 * 1024;  // beyond this, a new connection is cheaper
constexpr Duration discarding_time = 1s;
constexpr std::uint64_t max_believed = 1_MiB;  // reserved at most for an announced length

std::optional<std::uint64_t> length_of(const http::Head& head) noexcept {
  const http::FieldLine* const line = head.find(http::FieldName::ContentLength);
  if (line == nullptr) return std::nullopt;
  const std::string_view text = head.value(*line);
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return length;
}

}  // namespace

IncomingResponse::IncomingResponse(std::shared_ptr<Core> core, Pool::Lease&& lease,
                                   ExchangePointer&& exchange, Asked asked)
    : core_(std::move(core)),
      lease_(std::move(lease)),
      exchange_(std::move(exchange)),
      asked_(std::move(asked)),
      deadline_(asked_.deadline),
      timings_(asked_.timings),
      head_(exchange_->head()),
      pace_(asked_.bytes_per_second),
      length_bytes_(length_of(head_.head())) {
  const Result<void> started = start_decoding();
  if (!started) problem_ = fail(started.error());
}

IncomingResponse::~IncomingResponse() = default;

std::string IncomingResponse::step() const { return step_of(asked_.method_name, url()); }

Problem IncomingResponse::unexpected_status() const {
  return could_not(step(), Errc::UnexpectedStatus,
                   "the server answered " + std::to_string(head().status));
}

Result<void> IncomingResponse::start_decoding() {
  if (!asked_.decompress || asked_.method == Method::Head) return {};
  // If there is no content, or only a range of it, there is nothing to decode.
  if (status() == Status::NoContent || status() == Status::NotModified ||
      status() == Status::PartialContent) {
    return {};
  }
  if (head().find(http::FieldName::ContentEncoding) == nullptr) return {};
  coding::DecodeLimits limits;
  limits.output_bytes = core_->options.limits.decoded_bytes;
  limits.ratio = core_->options.limits.decoded_ratio;
  Result<ContentDecoder> decoder = ContentDecoder::create(head(), limits);
  if (!decoder) return decoder.error();
  if (!decoder->is_identity()) decoder_.emplace(*std::move(decoder));
  return {};
}

Problem IncomingResponse::fail(Error error) { return fail(could_not(step(), error)); }

Problem IncomingResponse::fail(Problem problem) {
  exchange_.reset();
  lease_.release();
  waiting_ = {};
  problem_ = std::move(problem);
  if (core_->meter != nullptr) core_->meter->cut();
  if (asked_.watch) asked_.watch->failed(*problem_);
  return *problem_;
}

Problem IncomingResponse::out_of_time() const {
  const bool is_over = core_->loop.now() >= deadline_;
  if (is_over) return timed_out(step(), {deadline_ - asked_.began, "timeout", "not done"});
  return timed_out(step(),
                   {core_->options.timeouts.idle, "ClientTimeouts::idle", "no more content"});
}

void IncomingResponse::complete() {
  if (!exchange_->trailers().fields.empty()) trailers_ = KeptHead(exchange_->trailers());
  timings_.content = core_->loop.now() - asked_.began;
  exchange_.reset();
  lease_.release();
  if (asked_.watch) asked_.watch->completed();
}

// Returns an empty piece if more input is needed.
Result<Bytes> IncomingResponse::decode(ContentDecoder& decoder) {
  decoded_.resize(decoded_piece_bytes);
  const Result<std::size_t> size = decoder.read(input_, decoded_);
  if (!size) return size.error();
  return bytes(std::string_view(decoded_.data(), *size));
}

Result<Exchange::Step> IncomingResponse::next() {
  Result<Exchange::Step> step = read_step(*exchange_, asked_.sends_files);
  if (!step || step->event != Event::Data) return step;
  received_bytes_ += step->data.size();
  if (received_bytes_ > core_->options.limits.body_bytes) return Errc::BodyTooLong;
  return step;
}

IncomingResponse::Taken IncomingResponse::take(std::string_view piece) noexcept {
  const bool is_plain = !decoder_ && !asked_.on_progress && asked_.bytes_per_second == 0;
  const std::uint64_t room = core_->options.limits.body_bytes - received_bytes_;
  if (!is_plain || is_discarding_ || piece.size() > room) return Taken::Nothing;
  const Taken taken = taker_->take(piece);
  if (taken != Taken::Nothing) received_bytes_ += piece.size();
  return taken;
}

std::string_view IncomingResponse::take_waiting() {
  const std::string_view taken = waiting_.substr(0, pace_.piece_bytes());
  waiting_.remove_prefix(taken.size());
  pace_.note(taken.size(), core_->loop.now());
  if (asked_.on_progress && !is_discarding_) {
    std::optional<std::uint64_t> total = length_bytes_;
    if (total) *total += earlier_bytes_;
    asked_.on_progress({received_bytes_ - waiting_.size() + earlier_bytes_, total});
  }
  return taken;
}

Duration IncomingResponse::patience() noexcept {
  const loop::Instant now = core_->loop.now();
  const Duration idle = core_->options.timeouts.idle - (now - exchange_->progress());
  return std::min(idle, deadline_ - now);
}

Task<IncomingResponse::Read> IncomingResponse::read() {
  skua::detail::WaiterList nobody;  // a pause ends by itself
  while (true) {
    std::optional<Read> read = read_now();
    if (read) co_return *std::move(read);
    skua::detail::WaiterList& list = waiting_.empty() ? exchange_->changed() : nobody;
    co_await TimedWait(core_->loop, list, wait_);
  }
}

std::optional<IncomingResponse::Read> IncomingResponse::read_now() {
  if (problem_) return *problem_;
  try {
    return look();
  } catch (const std::bad_alloc&) {  // a permanent failure
    exchange_.reset();
    lease_.release();
    problem_ = Problem{.error = Error(Errc::OutOfMemory, "response"), .text = {}};
    throw;
  }
}

std::optional<IncomingResponse::Read> IncomingResponse::look() {
  while (true) {
    if (decoder_) {
      const Result<Bytes> piece = decode(*decoder_);
      if (!piece) return fail(piece.error());
      if (!piece->empty()) return std::optional<Bytes>(*piece);
    }
    if (!waiting_.empty()) {
      const loop::Instant now = core_->loop.now();
      const Duration pause = pace_.left(now);
      if (pause > Duration(0)) {
        if (now >= deadline_) return fail(out_of_time());
        wait_ = std::min(pause, deadline_ - now);
        return std::nullopt;
      }
      input_ = take_waiting();
      if (!decoder_) return std::optional<Bytes>(bytes(input_));
      continue;
    }
    if (!exchange_) break;
    Result<Exchange::Step> step = next();
    if (!step) return fail(step.error());
    if (step->event == Event::Complete || step->event == Event::Switched) complete();
    if (step->event == Event::Data) waiting_ = step->data;
    if (step->event == Event::Data && waiting_.empty()) return std::optional<Bytes>(Bytes());
    if (step->event != Event::NeedMore) continue;
    wait_ = patience();
    if (wait_ <= Duration(0)) return fail(out_of_time());
    return std::nullopt;
  }
  if (decoder_) {
    const Result<void> finished = decoder_->finish();
    if (!finished) return fail(finished.error());
  }
  return std::optional<Bytes>();
}

Result<SwitchedStream, Problem> IncomingResponse::switch_protocol() {
  const Result<Exchange::Step> step = exchange_->read();
  if (!step) return fail(step.error());
  if (step->event != Event::Switched) return fail(Error(Errc::UnexpectedUpgrade));
  Exchange& exchange = *exchange_;
  Result<SwitchedStream> taken = exchange.take_stream(std::move(exchange_), std::move(lease_));
  if (!taken) return fail(taken.error());
  return *std::move(taken);
}

Task<> IncomingResponse::discard() {
  begin_discarding();
  while (exchange_ && received_bytes_ < discarded_bytes) {
    const Result<std::optional<Bytes>, Problem> piece = co_await read();
    if (!piece) break;
  }
  exchange_.reset();
  lease_.release();
}

void IncomingResponse::drop() {
  begin_discarding();
  while (exchange_ && received_bytes_ < discarded_bytes) {
    const std::optional<Read> piece = read_now();
    if (!piece || !*piece) break;
  }
  exchange_.reset();
  lease_.release();
}

void IncomingResponse::begin_discarding() noexcept {
  decoder_.reset();
  is_discarding_ = true;
  pace_ = Pace();
  deadline_ = std::min(deadline_, later(core_->loop.now(), discarding_time));
}

Task<Result<std::string, Problem>> read_text(IncomingResponse& incoming, std::size_t limit_bytes) {
  std::string text;
  const std::uint64_t told = incoming.is_decoded() ? 0 : incoming.length_bytes().value_or(0);
  text.reserve(
      static_cast<std::size_t>(std::min<std::uint64_t>({told, limit_bytes, max_believed})));
  while (true) {
    std::optional<IncomingResponse::Read> piece = incoming.read_now();
    if (!piece) {
      IncomingResponse::Read waited = co_await incoming.read();
      piece = std::move(waited);
    }
    if (!*piece) co_return std::move(*piece).error();
    const std::optional<Bytes>& bytes = **piece;
    if (!bytes) co_return std::move(text);
    if (bytes->size() > limit_bytes - text.size()) {
      co_return could_not(incoming.step(), Errc::BodyTooLong,
                          "its content is longer than " + std::to_string(limit_bytes) + " bytes");
    }
    text.append(skua::text(*bytes));
  }
}

}  // namespace skua::client
