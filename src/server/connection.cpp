// SPDX-License-Identifier: MIT
// Between a stream and a session. Every event ends in settle(): send what was written, once; then
// decide whether to read on, to linger or to close, and how long to wait for the peer.
#include "server/connection.hpp"

#include <array>

namespace skua::server {
namespace {

constexpr std::size_t slices_per_send = 16;

}  // namespace

Connection::Connection(Resources& resources, ConnectionOwner& owner,
                       std::unique_ptr<net::Stream> stream)
    : resources_(resources),
      owner_(owner),
      stream_(std::move(stream)),
      output_(resources.blocks),
      h1_(resources, *stream_, output_, static_cast<SessionOwner&>(*this)),
      timer_(resources.loop.timers(), on_deadline, this),
      settle_later_(on_turn_end, this) {
  stream_->listen(*this);
}

void Connection::start() {
  set_receiving(true);
  // A peer that connects and says nothing has as long as one that dawdles over its head.
  timer_.start(resources_.options.timeouts.head);
}

void Connection::drain() {
  session_->drain();
  if (state_ == State::Open && is_idle()) timer_.start(resources_.options.timeouts.drain_grace);
}

void Connection::close() {
  if (state_ == State::Closing) return;
  state_ = State::Closing;
  timer_.stop();
  session_->cancel();
  settle_later_.cancel();
  if (const auto& tell = resources_.options.hooks.on_connection_close) tell();
  stream_->close();
}

void Connection::on_receive(std::span<char> bytes) {
  resources_.counters.bytes_received += bytes.size();
  is_new_ = false;
  if (state_ == State::Lingering) {
    lingered_bytes_ += static_cast<std::uint32_t>(bytes.size());
    if (lingered_bytes_ > resources_.options.limits.unread_body_bytes) close();
    return;
  }
  if (state_ != State::Open) return;
  session_->receive({bytes.data(), bytes.size()});
  settle_later();
}

void Connection::on_receive_end(Error error) {
  peer_has_ended_ = true;
  is_receiving_ = false;
  if (error.code() != Errc::None || state_ == State::Lingering) return close();
  if (state_ != State::Open) return;
  session_->receive_end();
  settle();
}

void Connection::on_sent(std::size_t count) {
  is_sending_ = false;
  sent(count);
  settle();
}

void Connection::on_send_failed(Error) { close(); }

void Connection::on_closed() { owner_.connection_closed(*this); }

void Connection::settle() {
  // This is it: a second one would take a lingering connection for an open one.
  settle_later_.cancel();
  flush();
  Standing now = session_->standing(is_sending_);
  while (state_ == State::Open && now.can_resume) {
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
  start_timer(now.waiting);
}

void Connection::flush() {
  while (!output_.empty() && !is_sending_) {
    const Segment& front = output_.front();
    std::uint64_t wanted = front.size_bytes;
    std::size_t taken = 0;
    if (front.file >= 0) {
      taken = stream_->send_file(front.file, front.offset, static_cast<std::size_t>(wanted));
    } else if (front.next == nullptr) {
      const net::Slice slice{front.data, static_cast<std::size_t>(wanted)};
      taken = stream_->send({&slice, 1});
    } else {
      std::array<net::Slice, slices_per_send> slices;
      const std::size_t count = output_.gather(slices);
      wanted = 0;
      for (std::size_t i = 0; i < count; ++i) wanted += slices[i].size_bytes;
      taken = stream_->send(std::span(slices).first(count));
    }
    is_sending_ = taken < wanted;
    sent(taken);
  }
}

void Connection::sent(std::uint64_t count) noexcept {
  if (count == 0) return;
  is_write_timed_ = false;  // the peer took something
  resources_.counters.bytes_sent += count;
  output_.consume(count);
}

// RFC 9112 §9.6: close our side first and read on for a while, lest a reset destroy our last
// response.
void Connection::finish() {
  if (peer_has_ended_) return close();
  state_ = State::Lingering;
  stream_->shutdown_write();
  set_receiving(true);
  timer_.start(resources_.options.timeouts.linger);
}

void Connection::set_receiving(bool wanted) {
  if (wanted == is_receiving_) return;
  is_receiving_ = wanted;
  if (wanted)
    stream_->start_receive();
  else
    stream_->stop_receive();
}

void Connection::start_timer(Waiting waiting) {
  const Timeouts& timeouts = resources_.options.timeouts;
  if (is_sending_) {
    if (!is_write_timed_) timer_.start(timeouts.write);
    is_write_timed_ = true;
    return;
  }
  switch (waiting) {
    case Waiting::Head:
    case Waiting::Body: return timer_.start(session_->deadline() - resources_.loop.now());
    case Waiting::Handler: return timer_.stop();
    case Waiting::Request: break;
  }
  timer_.start(resources_.is_draining ? timeouts.drain_grace : idle_time());
}

void Connection::on_deadline(void* self) noexcept { static_cast<Connection*>(self)->time_out(); }

void Connection::on_turn_end(void* self) noexcept { static_cast<Connection*>(self)->settle(); }

void Connection::time_out() {
  const Waiting waiting = session_->standing(is_sending_).waiting;
  if (state_ == State::Open && !is_sending_ &&
      (waiting == Waiting::Head || waiting == Waiting::Body)) {
    session_->time_out();
    return settle();
  }
  if (is_sending_ || is_new_) ++resources_.counters.refused_slow;
  close();
}

bool Connection::is_idle() const noexcept {
  const Standing now = session_->standing(is_sending_);
  return output_.empty() && now.waiting == Waiting::Request && !now.has_work;
}

Duration Connection::idle_time() const noexcept {
  const Timeouts& timeouts = resources_.options.timeouts;
  return resources_.is_under_pressure ? timeouts.idle_under_pressure : timeouts.idle;
}

}  // namespace skua::server
