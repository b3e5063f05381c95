// SPDX-License-Identifier: MIT
// `h2::Connection` implements the protocol; this file maps its streams to requests.
#include "bench/h2_speaker.hpp"

#include <algorithm>
#include <utility>

namespace skua::cli::bench {
namespace {

constexpr std::size_t output_bytes = std::size_t{64} * 1024;

h2::RequestLines lines_of(const RequestParts& parts) {
  h2::RequestLines lines;
  lines.method = parts.method;
  lines.scheme = parts.scheme;
  lines.authority = parts.authority;
  lines.path = parts.path;
  lines.fields = parts.fields;
  if (parts.has_content) lines.length_bytes = parts.content.size();
  return lines;
}

}  // namespace

H2Speaker::H2Speaker(AnswerSink& sink, const Plan& plan)
    : sink_(sink), plan_(plan), lines_(lines_of(plan.parts)), exchanges_(plan.depth) {}

void H2Speaker::begin(net::OutputQueue& output, loop::Instant now) {
  output_ = &output;
  count_ = 0;
  is_ending_ = false;
  free_.clear();
  for (Exchange& exchange : exchanges_) {
    exchange.is_under_way = false;
    free_.push_back(&exchange);
  }
  connection_ = std::make_unique<h2::Connection>(h2::client_options(),
                                                 static_cast<h2::Events&>(*this), workspace_, now);
}

std::size_t H2Speaker::room() const noexcept { return std::min(free_.size(), connection_->room()); }

void H2Speaker::ask(const Asked& asked) {
  Exchange& exchange = *free_.back();
  const bool has_content = !plan_.parts.content.empty();
  if (connection_->request(lines_, has_content, &exchange) == nullptr)
    return sink_.on_unseen(asked);
  free_.pop_back();
  exchange = {.asked = asked, .is_under_way = true};
  ++count_;
}

Asked H2Speaker::take(Exchange& exchange) noexcept {
  exchange.is_under_way = false;
  free_.push_back(&exchange);
  --count_;
  return exchange.asked;
}

loop::Instant H2Speaker::oldest() const noexcept {
  loop::Instant oldest = loop::Instant::max();
  for (const Exchange& exchange : exchanges_) {
    if (exchange.is_under_way) oldest = std::min(oldest, exchange.asked.sent);
  }
  return oldest;
}

bool H2Speaker::write(net::OutputQueue& output) {
  const std::uint64_t before = output.pressure_bytes();
  if (before < output_bytes) connection_->write(output_bytes);
  return output.pressure_bytes() != before;
}

Verdict H2Speaker::read(std::string_view input, loop::Instant now) {
  now_ = now;
  connection_->receive(input, now);
  if (const h2::Failure* const failure = connection_->failure()) {
    problem_ = failure->reason;
    return Verdict::Broken;
  }
  if (count_ == 0 && (is_ending_ || connection_->is_over())) return Verdict::Over;
  return Verdict::GoOn;
}

Verdict H2Speaker::end_of_input(loop::Instant /*now*/) {
  if (count_ == 0) return Verdict::Over;
  problem_ = Error(Errc::Closed, "with requests in flight").message();
  return Verdict::Broken;
}

std::optional<Asked> H2Speaker::give_up() {
  for (Exchange& exchange : exchanges_) {
    if (exchange.is_under_way) return take(exchange);
  }
  return std::nullopt;
}

void H2Speaker::on_response(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> head) {
  exchange_of(stream).status = head->head.status;  // the final response overwrites interim ones
}

void H2Speaker::on_data(h2::Stream& stream, std::string_view data) {
  connection_->consume(stream, data.size());
}

void H2Speaker::on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> /*trailers*/) {
  Exchange& exchange = exchange_of(stream);
  connection_->release(stream);
  sink_.on_answer(take(exchange), exchange.status, now_);
}

void H2Speaker::on_failure(h2::Stream& stream, const h2::StreamFailure& failure) {
  Exchange& exchange = exchange_of(stream);
  if (!exchange.is_under_way) return;
  const Asked asked = take(exchange);
  if (failure.is_unprocessed) return sink_.on_unseen(asked);
  sink_.on_failure(asked, failure.error);
}

void H2Speaker::on_goaway(h2::ErrorCode /*reason*/) { is_ending_ = true; }

h2::BodyRead H2Speaker::read_body(h2::Stream& stream, std::size_t max_bytes) {
  const std::size_t left = plan_.parts.content.size() - exchange_of(stream).content_bytes;
  h2::BodyRead read;
  read.bytes = std::min(left, max_bytes);
  read.state = read.bytes == left ? h2::BodyRead::State::End : h2::BodyRead::State::More;
  return read;
}

void H2Speaker::append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) {
  append(head);
  std::size_t& sent = exchange_of(stream).content_bytes;
  const std::string_view content = plan_.parts.content;
  output_->append_piece(Body::borrowed(content.substr(sent, bytes)));
  sent += bytes;
}

}  // namespace skua::cli::bench
