// SPDX-License-Identifier: MIT
// Connects a pump to a protocol. Every event ends in settle(), which sends pending output once and
// then decides whether to read on or to close, and how long to wait for the peer.
#include "server/connection.hpp"

#include <algorithm>

#include "loop/clock.hpp"

namespace skua::server {

void Connection::on_receive(std::span<char> bytes) {
  resources_.counters.bytes_received += bytes.size();
  if (is_new_ && !choose_protocol({bytes.data(), bytes.size()})) return;
  with_protocol([&](auto& protocol) { protocol.receive(bytes); });
  pump_.settle_later();
}

void Connection::settle() {
  ProtocolState now;
  pump_.flush_while([&] {
    return with_protocol([&](auto& protocol) {
      now = protocol.state(pump_.is_sending());
      if (!now.can_resume || !pump_.is_open()) return false;
      protocol.resume();
      if (pump_.has_input_ended()) receive_end();
      return true;
    });
  });
  if (now.has_work) with_protocol([](auto& protocol) { protocol.output_drained(); });
  if (now.is_finished || (pump_.has_input_ended() && !now.has_work)) {
    if (is_cut()) [[unlikely]]
      return close(ResponseEnd::TimedOut);
    pump_.end();
  }
  if (pump_.has_ended()) {
    // Bytes that arrive after close() would trigger a reset. TLS may have some in flight.
    if (now.is_peer_done && !pump_.stream().is_secure()) return pump_.close();
    return pump_.linger(resources_.options.timeouts.linger);
  }
  pump_.set_receiving(pump_.is_open() && now.wants_input);
  start_timer(now.waiting);
}

std::size_t Connection::send_now(std::span<const net::Slice> slices) {
  const std::size_t count = pump_.send_now(slices);
  if (count != 0) is_absence_timed_ = false;
  resources_.counters.bytes_sent += count;
  return count;
}

void Connection::on_sent(std::uint64_t count) {
  if (Accounting* const accounting = begun_accounting()) accounting->sent(count);
  is_absence_timed_ = false;
  resources_.counters.bytes_sent += count;
}

void Connection::start_timer(Waiting waiting) {
  const Timeouts& timeouts = resources_.options.timeouts;
  const std::optional<Duration> left = pump_.left_to_send(timeouts.write);
  if (!left) [[likely]] {
    if (is_new_ && !resources_.is_draining) return;  // running since start()
    if (is_new_ && is_handshake_granted_) return;    // running too
  }
  if (waiting == Waiting::Request || is_late_for_drain(waiting)) {
    Duration idle =
        resources_.is_draining ? timeouts.drain_grace : resources_.idle_time(pump_.stream());
    // Each byte of a head starts the grace anew, but not the time of the whole head.
    if (waiting == Waiting::Head) idle = std::min(idle, deadline() - resources_.loop.now());
    return pump_.start_timer(left.value_or(idle));
  }
  loop::Instant end = end_of_patience();
  if (waiting != Waiting::Handler && pump_.is_open()) end = std::min(end, deadline());
  if (left) end = std::min(end, later(resources_.loop.now(), *left));
  if (end == loop::Instant::max()) return pump_.stop_timer();
  pump_.start_timer(end - resources_.loop.now());
}

}  // namespace skua::server
