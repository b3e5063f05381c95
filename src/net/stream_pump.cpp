// SPDX-License-Identifier: MIT
// Between a stream and who speaks on it. What the stream, the clock or the end of the turn tells
// comes through here, so that there is one place where a failed allocation ends at the connection
// that it was for (docs/decisions/0020), and one order of things: the user hears, then it settles.
#include "net/stream_pump.hpp"

namespace skua::net {
namespace {

// So much leaves before others of the turn are heard: it is still in the processor's caches.
constexpr std::uint64_t flushed_at_once_bytes = 16 * 1024;

}  // namespace

StreamPump::StreamPump(StreamPumpUser& user, loop::Loop& loop, OutputQueue::Blocks& blocks) noexcept
    : user_(user),
      loop_(loop),
      output_(blocks),
      timer_(loop.timers(), loop::call_member<&StreamPump::time_out>, this),
      settle_later_(loop::call_member<&StreamPump::end_turn>, this) {}

void StreamPump::take(std::unique_ptr<Stream> stream) noexcept {
  stream_ = std::move(stream);
  stream_->listen(*this);
}

// What was asked for with the last words is nobody's any more.
void StreamPump::settle() {
  settle_later_.cancel();  // this is it
  if (state_ <= State::Ending) user_.settle();
}

void StreamPump::end_turn() noexcept {
  guarded([this] {
    if (state_ <= State::Ending) user_.settle();
  });
}

// Input -------------------------------------------------------------------------------------------

bool StreamPump::set_receiving(bool wanted) {
  if (input_ != (wanted ? Input::Stopped : Input::Receiving)) return false;
  input_ = wanted ? Input::Receiving : Input::Stopped;
  wanted ? stream_->start_receive() : stream_->stop_receive();
  return true;
}

void StreamPump::on_established() {
  guarded([this] { user_.on_established(); });
}

void StreamPump::on_receive(std::span<char> bytes) {
  if (state_ != State::Open) return user_.on_dropped(bytes.size());
  guarded([&] {
    user_.on_receive(bytes);
    if (output_.pressure_bytes() >= flushed_at_once_bytes) [[unlikely]]
      settle();
  });
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

// Output ------------------------------------------------------------------------------------------

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

std::size_t StreamPump::send_now(std::span<const Slice> slices) {
  if (!output_.empty() || sending_ != Sending::Nothing || state_ != State::Open) return 0;
  return stream_->try_send(slices);
}

void StreamPump::on_sent(std::size_t count) {
  if (is_sending()) sending_ = Sending::Nothing;
  output_.consume(count);
  guarded([&] {
    note_sent(count);
    settle();
  });
}

void StreamPump::on_send_failed(Error error) {
  sending_ = Sending::Impossible;
  guarded([&] { user_.on_send_failed(error); });
}

// Time --------------------------------------------------------------------------------------------

void StreamPump::time_out() noexcept {
  if (state_ > State::Ending) return close();
  guarded([this] {
    user_.on_time_out();
    settle();
  });
}

// The end -----------------------------------------------------------------------------------------

void StreamPump::end() noexcept {
  if (state_ == State::Open) state_ = State::Ending;
}

// What a peer sends to a socket that is closed is answered by a reset, which may destroy the last
// of ours before it was read.
void StreamPump::linger(Duration patience, LastWord last_word) {
  if (has_input_ended()) {
    if (stream_->is_secure()) stream_->shutdown_write();  // RFC 8446 §6.1: close_notify
    return close();
  }
  state_ = State::Lingering;
  if (last_word == LastWord::Ours) stream_->shutdown_write();
  set_receiving(true);
  timer_.start(patience);
}

void StreamPump::cut_off() noexcept {
  set_receiving(false);
  input_ = Input::Ended;
  sending_ = Sending::Impossible;
}

void StreamPump::close() noexcept {
  if (state_ >= State::Closing) return;
  state_ = State::Closing;
  input_ = Input::Ended;
  sending_ = Sending::Impossible;
  timer_.stop();
  user_.on_closing();
  settle_later_.cancel();
  stream_->close();
}

void StreamPump::on_closed() {
  state_ = State::Closed;
  user_.on_closed();
}

}  // namespace skua::net
