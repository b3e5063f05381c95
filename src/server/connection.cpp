// SPDX-License-Identifier: MIT
// Between a stream and a session. Every event ends in settle(): send what was written, once; then
// decide whether to read on, to linger or to close, and how long to wait for the peer.
#include "server/connection.hpp"

#include <algorithm>

namespace skua::server {
namespace {

constexpr int rounds_per_turn = 16;

}  // namespace

void Connection::on_receive(std::span<char> bytes) {
  resources_.counters.bytes_received += bytes.size();
  if (state_ != State::Open) return;  // thrown away
  guarded([&] { receive(bytes); });
}

void Connection::receive(std::span<char> bytes) {
  if (is_new_ && !choose_session({bytes.data(), bytes.size()})) return;
  session_->receive(bytes);
  settle_later();
}

void Connection::on_sent(std::size_t count) {
  is_sending_ = false;
  output_.consume(count);
  note_sent(count);
  guarded([this] { settle(); });
}

void Connection::settle() {
  settle_later_.cancel();  // this is it
  // What the session asked for with its last words: a lingering connection is not open any more.
  if (state_ == State::Lingering) return;
  flush();
  Standing now = session_->standing(is_sending_);
  for (int round = 0; state_ == State::Open && now.can_resume; ++round) {
    if (round == rounds_per_turn) {
      settle_later();  // others have their turn first
      break;
    }
    session_->resume();
    if (peer_has_ended_) session_->receive_end();
    flush();
    now = session_->standing(is_sending_);
  }
  if (now.has_work) session_->output_drained();
  const bool is_last = now.is_finished || (peer_has_ended_ && !now.has_work);
  if (state_ == State::Open && is_last) state_ = State::Finishing;
  if (state_ == State::Finishing && output_.empty()) return finish();
  set_receiving(state_ == State::Open && now.wants_input && !peer_has_ended_);
  start_timer(now);
}

void Connection::flush() {
  if (is_sending_) return;
  const net::Sent sent = net::send_queued(output_, *stream_);
  is_sending_ = sent.is_pending;
  note_sent(sent.bytes);
}

std::size_t Connection::send_now(std::span<const net::Slice> slices) {
  if (!output_.empty() || is_sending_ || state_ != State::Open) return 0;
  const std::size_t count = stream_->try_send(slices);
  resources_.counters.bytes_sent += count;
  return count;
}

void Connection::note_sent(std::uint64_t count) {
  if (count == 0) return;
  if (journal_ != nullptr) journal_->sent(count);
  is_write_timed_ = false;  // the peer took something
  absent_until_ = loop::Instant::max();
  resources_.counters.bytes_sent += count;
}

void Connection::set_receiving(bool wanted) {
  if (wanted == is_receiving_) return;
  is_receiving_ = wanted;
  if (wanted)
    stream_->start_receive();
  else
    stream_->stop_receive();
}

void Connection::start_timer(const Standing& now) {
  const Timeouts& timeouts = resources_.options.timeouts;
  if (is_sending_) {
    if (!is_write_timed_) timer_.start(timeouts.write);
    is_write_timed_ = true;
    return;
  }
  if (is_new_ && !resources_.is_draining) return;                   // it runs since the start
  if (is_handshake_granted_ && !stream_->is_established()) return;  // as does this one
  if (now.waiting == Waiting::Request) {
    return timer_.start(resources_.is_draining ? timeouts.drain_grace : resources_.idle_time());
  }
  loop::Instant end = end_of_patience();
  if (now.waiting != Waiting::Handler) end = std::min(end, session_->deadline());
  if (end == loop::Instant::max()) return timer_.stop();
  timer_.start(end - resources_.loop.now());
}

void Connection::on_turn_end(void* self) noexcept {
  auto& connection = *static_cast<Connection*>(self);
  connection.guarded([&] { connection.settle(); });
}

}  // namespace skua::server
