// SPDX-License-Identifier: MIT
// Between a pump and a session. Every event ends in settle(): send what was written, once; then
// decide whether to read on or to end, and how long to wait for the peer.
#include "server/connection.hpp"

#include <algorithm>

namespace skua::server {

void Connection::on_receive(std::span<char> bytes) {
  resources_.counters.bytes_received += bytes.size();
  if (is_new_ && !choose_session({bytes.data(), bytes.size()})) return;
  session_->receive(bytes);
  pump_.settle_later();
}

void Connection::settle() {
  Standing now;
  pump_.flush_while([&] {
    now = session_->standing(pump_.is_sending());
    if (!now.can_resume || !pump_.is_open()) return false;
    session_->resume();
    if (pump_.has_input_ended()) session_->receive_end();
    return true;
  });
  if (now.has_work) session_->output_drained();
  if (now.is_finished || (pump_.has_input_ended() && !now.has_work)) pump_.end();
  if (pump_.has_ended()) return pump_.linger(resources_.options.timeouts.linger);
  pump_.set_receiving(pump_.is_open() && now.wants_input);
  start_timer(now);
}

std::size_t Connection::send_now(std::span<const net::Slice> slices) {
  const std::size_t count = pump_.send_now(slices);
  resources_.counters.bytes_sent += count;
  return count;
}

void Connection::on_sent(std::uint64_t count) {
  if (journal_ != nullptr) journal_->sent(count);
  absent_until_ = loop::Instant::max();
  resources_.counters.bytes_sent += count;
}

void Connection::start_timer(const Standing& now) {
  const Timeouts& timeouts = resources_.options.timeouts;
  loop::Timer& timer = pump_.timer();
  if (pump_.time_sending(timeouts.write)) return;
  if (is_new_ && !resources_.is_draining) return;                         // it runs since the start
  if (is_handshake_granted_ && !pump_.stream().is_established()) return;  // as does this one
  if (now.waiting == Waiting::Request) {
    return timer.start(resources_.is_draining ? timeouts.drain_grace : resources_.idle_time());
  }
  loop::Instant end = end_of_patience();
  if (now.waiting != Waiting::Handler) end = std::min(end, session_->deadline());
  if (end == loop::Instant::max()) return timer.stop();
  timer.start(end - resources_.loop.now());
}

}  // namespace skua::server
