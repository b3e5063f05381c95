// SPDX-License-Identifier: MIT
// In: events of a stream, the clock and the end of the turn. Out: calls to the user.
// All events pass through here, so a failed allocation ends only the connection that it was for
// (docs/decisions/0020), and the order is always the same: first the event, then settle().
#include "net/stream_pump.hpp"

namespace skua::net {
namespace {

// This much output is flushed before the turn goes on, while it is still in the CPU caches.
constexpr std::uint64_t flushed_at_once_bytes = 16 * 1024;

}  // namespace

// The user settles only until its last output was sent.
void StreamPump::settle() {
  is_settled_ = true;
  if (state_ <= State::Ending) user_.settle();
}

void StreamPump::on_turn_end(void* turn_end) noexcept {
  auto& self = static_cast<StreamPump&>(*static_cast<TurnEnd*>(turn_end));
  if (self.is_settled_ || self.state_ > State::Ending) return;
  self.guarded([&self] { self.user_.settle(); });
}

bool StreamPump::set_receiving(bool wanted) {
  if (input_ != (wanted ? Input::Stopped : Input::Receiving)) return false;
  input_ = wanted ? Input::Receiving : Input::Stopped;
  wanted ? stream_->start_receive() : stream_->stop_receive();
  return true;
}

void StreamPump::on_receive(std::span<char> bytes) {
  if (state_ != State::Open) return user_.on_dropped(bytes.size());
  guarded([&] {
    user_.on_receive(bytes);
    if (output_.pressure_bytes() >= flushed_at_once_bytes) [[unlikely]]
      settle();
  });
}

void StreamPump::flush() {
  if (sending_ != Sending::Nothing) return;
  const Sent sent = send_queued(output_, *stream_);
  if (sent.is_pending) sending_ = Sending::Pending;
  note_sent(sent.bytes);
}

void StreamPump::note_sent(std::uint64_t count) {
  if (count == 0) return;
  is_sending_timed_ = false;
  user_.on_sent(count);
}

void StreamPump::on_sent(std::size_t count) {
  if (sending_ == Sending::Held) is_sending_timed_ = false;  // note_sent() came too early for that
  if (is_sending()) sending_ = Sending::Nothing;
  output_.consume(count);
  guarded([&] {
    note_sent(count);
    settle();
  });
}

}  // namespace skua::net
