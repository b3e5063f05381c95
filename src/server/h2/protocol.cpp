// SPDX-License-Identifier: MIT
// Connects an HTTP/2 connection to exchanges, one per stream, and runs its timeouts. It writes only
// when the output has room, so that the choice of what to send next is made late: by priority, and
// including the latest responses.
#include "server/h2/protocol.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "loop/clock.hpp"

namespace skua::server {
namespace {

constexpr std::size_t written_at_once_bytes = 64 * 1024;

ServerStream& exchange_of(h2::Stream& stream) noexcept {
  return *static_cast<ServerStream*>(stream.context);
}

}  // namespace

// From the connection -----------------------------------------------------------------------------

void H2Protocol::receive(std::span<char> input) {
  const loop::Instant now = resources_.loop.now();
  if (is_shutting_down_) heard_at_ = now;
  h2_.receive({input.data(), input.size()}, now);
  resume();
  if (now >= ages_at_ && !is_shutting_down_) begin_shut_down();
}

ProtocolState H2Protocol::state(bool is_sending) const noexcept {
  const bool wants_write = h2_.wants_write();
  return {.waiting = deadline() != loop::Instant::max() ? Waiting::Peer : Waiting::Handler,
          .can_resume = !turn_.exchanges.empty() || turn_.has_windows ||
                        (wants_write && !is_sending && has_room()),
          .has_work = wants_write || !exchanges_.empty(),
          .wants_input = output_.pressure_bytes() < resources_.options.limits.output_bytes,
          .is_finished = h2_.is_over()};
}

void H2Protocol::resume() {
  turn_.exchanges.for_each([](H2Turn::Node& node) { node.exchange.take_turn(); });
  if (turn_.has_windows) open_windows();
  if (has_room()) h2_.write(written_at_once_bytes);
  turn_.exchanges.for_each([](H2Turn::Node& node) { node.exchange.finish_turn(); });
  if (h2_.failure() != nullptr && !is_failure_counted_) count_failure();
}

// Opens the windows of bodies that are kept in memory. If the connection keeps too much, only the
// oldest one may continue, so that the bodies complete one after the other.
void H2Protocol::open_windows() {
  turn_.has_windows = false;
  std::uint64_t kept_bytes = 0;
  exchanges_.for_each([&](const ServerStream& exchange) { kept_bytes += exchange.kept_bytes(); });
  const bool is_too_much = kept_bytes >= resources_.options.limits.connection_body_bytes;
  bool is_oldest = true;
  exchanges_.for_each([&](ServerStream& exchange) {
    if (exchange.kept_bytes() == 0) return;
    if ((is_oldest || !is_too_much) && exchange.has_shut_window()) exchange.open_window();
    is_oldest = false;
  });
}

bool H2Protocol::has_room() const noexcept {
  return output_.pressure_bytes() < written_at_once_bytes;
}

// Returns the deadline of the connection; exchanges have their own.
loop::Instant H2Protocol::deadline() const noexcept {
  const Timeouts& timeouts = resources_.options.timeouts;
  loop::Instant next = finishes_at_.value_or(loop::Instant::max());
  if (const auto since = h2_.settings_pending_since()) {
    next = std::min(next, later(*since, timeouts.head));
  }
  next = std::min(next, end_of_unfinished());
  if (exchanges_.empty()) next = std::min(next, later(idle_since_, resources_.idle_time(stream_)));
  return next;
}

void H2Protocol::give_back(ServerStream& exchange) noexcept {
  exchange.base::ListNode::unlink();
  resources_.give_back(std::unique_ptr<ServerStream>(&exchange));
}

// From the HTTP/2 connection ----------------------------------------------------------------------

void H2Protocol::on_request(h2::Stream& stream, bool is_end) {
  ServerStream& exchange = *resources_.take_h2_exchange().release();
  stream.context = &exchange;
  exchange.open(owner_, stream_, h2_, stream, turn_);
  exchanges_.push_back(exchange);
  exchange.begin(is_end);
}

void H2Protocol::on_data(h2::Stream& stream, std::string_view data) {
  ServerStream& exchange = exchange_of(stream);
  exchange.wake();
  exchange.receive(data);
}

void H2Protocol::on_end(h2::Stream& stream, std::unique_ptr<h2::ReceivedHead> trailers) {
  ServerStream& exchange = exchange_of(stream);
  exchange.wake();
  exchange.receive_end(std::move(trailers));
}

void H2Protocol::on_answered_early(h2::Stream& stream) { exchange_of(stream).linger(); }

void H2Protocol::on_closed(h2::Stream& stream, h2::ErrorCode reason) {
  ServerStream& exchange = exchange_of(stream);
  if (exchange.closes_connection() && !is_shutting_down_) begin_shut_down();
  exchange.close(reason == h2::ErrorCode::NoError);
  give_back(exchange);
  h2_.release(stream);
  if (exchanges_.empty()) idle_since_ = resources_.loop.now();
}

h2::BodyRead H2Protocol::read_body(h2::Stream& stream, std::size_t max_bytes) {
  return exchange_of(stream).read_body(max_bytes);
}

void H2Protocol::append_data(h2::Stream& stream, std::string_view head, std::size_t bytes) {
  ServerStream& exchange = exchange_of(stream);
  exchange.wake();
  exchange.write_data(output_, head, bytes);
}

std::size_t H2Protocol::send_now(std::span<const std::string_view> texts) {
  std::array<net::Slice, max_texts_now> slices;
  std::ranges::transform(texts, slices.begin(), [](std::string_view text) {
    return net::Slice{text.data(), text.size()};
  });
  return owner_.send_now({slices.data(), texts.size()});
}

}  // namespace skua::server
