// SPDX-License-Identifier: MIT
// The rare events in a pump's life: its start, failures and time-outs, and its end.
#include "net/stream_pump.hpp"

#include <algorithm>
#include <array>

namespace skua::net {

StreamPump::StreamPump(StreamPumpUser& user, loop::Loop& loop, OutputQueue::Blocks& blocks) noexcept
    : TimerNode(on_time_out), user_(user), output_(blocks) {
  SKUA_ASSERT(blocks.loop_ == nullptr || blocks.loop_ == &loop);
  blocks.loop_ = &loop;
  loop.on_turn_end(on_turn_end);
}

void StreamPump::take(std::unique_ptr<Stream> stream) noexcept {
  stream_ = std::move(stream);
  stream_->listen(*this);
}

std::unique_ptr<Stream> StreamPump::give_up() noexcept {
  SKUA_ASSERT(is_open() && has_sent_all());
  cut_off();
  state_ = State::Closed;
  stop_timer();
  return std::move(stream_);
}

void StreamPump::on_established() {
  guarded([this] { user_.on_established(); });
}

void StreamPump::end_input(Error error) {
  input_ = Input::Ended;
  if (state_ == State::Lingering) return close();
  if (state_ != State::Open) return error.code() != Errc::None ? close() : void();
  guarded([&] {
    user_.on_receive_end(error);
    settle();
  });
}

// The output goes along if it is one segment, such as the head before the first of the content.
std::size_t StreamPump::send_now(std::span<const Slice> slices) {
  if (sending_ != Sending::Nothing || state_ != State::Open) return 0;
  std::array<Slice, 1 + max_slices_now> all;
  SKUA_ASSERT(slices.size() <= max_slices_now);
  Slice* end = all.data();
  std::uint64_t of_output = 0;
  if (!output_.empty()) {
    const Segment& front = output_.front();
    if (front.file >= 0 || front.next != nullptr) return 0;
    of_output = front.size_bytes;
    *end++ = {front.data, static_cast<std::size_t>(of_output)};
  }
  end = std::copy(slices.begin(), slices.end(), end);
  const Sent sent = stream_->try_send({all.data(), end});
  if (sent.is_pending) sending_ = Sending::Held;
  of_output = std::min(of_output, sent.bytes);
  output_.consume(of_output);
  note_sent(of_output);
  return static_cast<std::size_t>(sent.bytes - of_output);
}

void StreamPump::on_send_failed(Error error) {
  sending_ = Sending::Impossible;
  guarded([&] { user_.on_send_failed(error); });
}

void StreamPump::on_time_out(void* node) noexcept {
  auto& self = static_cast<StreamPump&>(*static_cast<TimerNode*>(node));
  if (self.state_ > State::Ending) return self.close();
  self.guarded([&self] {
    self.user_.on_time_out();
    self.settle();
  });
}

void StreamPump::end() noexcept {
  if (state_ == State::Open) state_ = State::Ending;
}

// Bytes that a peer sends to a closed socket trigger a reset, which may destroy the last of our
// bytes before the peer has read them.
void StreamPump::linger(Duration patience, ShutdownOrder order) {
  if (has_input_ended()) {
    if (stream_->is_secure()) stream_->shutdown_write();  // RFC 8446 §6.1: close_notify
    return close();
  }
  state_ = State::Lingering;
  if (order == ShutdownOrder::OursFirst) stream_->shutdown_write();
  set_receiving(true);
  start_timer(patience);
}

void StreamPump::cut_off() noexcept {
  set_receiving(false);
  input_ = Input::Ended;
  sending_ = Sending::Impossible;
}

void StreamPump::close() noexcept {
  if (state_ >= State::Closing) return;
  loop().backend().taken_bytes() += held_bytes();
  state_ = State::Closing;
  input_ = Input::Ended;
  sending_ = Sending::Impossible;
  stop_timer();
  user_.on_closing();
  stream_->close();
}

// An estimate of the memory that a connection held besides what it received.
std::uint64_t StreamPump::held_bytes() const noexcept {
  constexpr std::uint64_t usual_bytes = 8_KiB;
  constexpr std::uint64_t tls_bytes = 32_KiB;
  return output_.pressure_bytes() + usual_bytes + (stream_->is_secure() ? tls_bytes : 0);
}

void StreamPump::on_closed() {
  state_ = State::Closed;
  user_.on_closed();
}

}  // namespace skua::net
