// SPDX-License-Identifier: MIT
// The rare events of HTTP/2 on a connection: it starts or ends, or the peer takes too long.
#include <algorithm>
#include <utility>

#include "loop/clock.hpp"
#include "server/accounting.hpp"
#include "server/h2/protocol.hpp"
#include "server/resources.hpp"

namespace skua::server {
namespace {

h2::Options connection_options(const Limits& limits) noexcept {
  return {.streams = limits.http2_streams,
          .head = {.target_bytes = limits.target_bytes,
                   .field_line_bytes = limits.field_line_bytes,
                   .list_bytes = limits.head_bytes,
                   .fields = limits.fields},
          .trailers = {.target_bytes = 0,
                       .field_line_bytes = limits.trailer_bytes,
                       .list_bytes = limits.trailer_bytes,
                       .fields = limits.trailer_fields},
          .stream_window_bytes = static_cast<std::uint32_t>(stream_window_bytes(limits)),
          .allows_extended_connect = true};
}

}  // namespace

H2Protocol::H2Protocol(Resources& resources, const net::Stream& stream, net::OutputQueue& output,
                       ProtocolOwner& owner)
    : resources_(resources),
      stream_(stream),
      output_(output),
      owner_(owner),
      idle_since_(resources.loop.now()),
      ages_at_(end_of_age(resources, this)),
      h2_(connection_options(resources.options.limits), *this, resources.h2_workspace,
          resources.loop.now()) {
  ++resources.counters.http2_begun;
  if (resources.is_draining) begin_shut_down();
}

H2Protocol::~H2Protocol() {
  cancel();
  ++resources_.counters.http2_ended;
}

void H2Protocol::receive_end() {
  exchanges_.for_each([](ServerStream& exchange) { exchange.receive_nothing_more(); });
}

void H2Protocol::count_failure() {
  is_failure_counted_ = true;
  const h2::Failure& failure = *h2_.failure();
  if (failure.code == h2::ErrorCode::NoError) return;
  if (failure.code == h2::ErrorCode::InternalError) {
    return note_out_of_memory(resources_, "HTTP/2: a connection was terminated");
  }
  ++resources_.counters.refused_malformed;
  if (const auto& log = resources_.options.hooks.log) {
    log(LogLevel::Info, "HTTP/2: a connection was terminated: " + failure.reason);
  }
}

void H2Protocol::time_out() {
  const loop::Instant now = resources_.loop.now();
  if (finishes_at_ && *finishes_at_ <= now) {
    finishes_at_.reset();
    h2_.finish_shut_down();
  }
  const auto pending_since = h2_.settings_pending_since();
  if (pending_since && later(*pending_since, resources_.options.timeouts.head) <= now) {
    h2_.terminate(h2::ErrorCode::SettingsTimeout, "SETTINGS were not acknowledged");
  }
  if (end_of_unfinished() <= now) {
    ++resources_.counters.refused_slow;
    is_failure_counted_ = true;
    h2_.terminate(h2::ErrorCode::EnhanceYourCalm, "a frame or a head took too long");
  }
  if (exchanges_.empty() && later(idle_since_, resources_.idle_time(stream_)) <= now) {
    h2_.terminate(h2::ErrorCode::NoError, "idle");
  }
}

// Returns when the rest of a head or of a frame is due. A drain waits only for those that go on,
// but does not end a connection with requests in progress sooner: one lost segment may be the
// reason.
loop::Instant H2Protocol::end_of_unfinished() const noexcept {
  const auto since = h2_.unfinished_since();
  if (!since) return loop::Instant::max();
  const Timeouts& timeouts = resources_.options.timeouts;
  const loop::Instant end = later(*since, timeouts.head);
  const bool is_hasty = resources_.is_draining && exchanges_.empty();
  return is_hasty ? std::min(end, later(heard_at_, timeouts.drain_grace)) : end;
}

// RFC 9113 §6.8: requests already on their way are still served.
void H2Protocol::begin_shut_down() {
  is_shutting_down_ = true;
  heard_at_ = resources_.loop.now();
  h2_.begin_shut_down();
  finishes_at_ = later(resources_.loop.now(), resources_.options.timeouts.drain_grace);
}

void H2Protocol::drain() {
  if (!is_shutting_down_) begin_shut_down();
  exchanges_.for_each([](ServerStream& exchange) { exchange.drain(); });
}

void H2Protocol::cancel() noexcept {
  exchanges_.for_each([this](ServerStream& exchange) {
    exchange.close(false);
    give_back(exchange);
  });
}

}  // namespace skua::server
