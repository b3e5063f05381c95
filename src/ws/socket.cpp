// SPDX-License-Identifier: MIT
// In: bytes from the peer. Out: messages for the application, and replies to Ping and Close.
// Reading pauses while a coroutine is busy with a message or the peer does not take our output, so
// that both sides wait for each other and memory does not grow.
#include "ws/socket.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "loop/clock.hpp"
#include "ws/message_coding.hpp"
#include "ws/socket_extras.hpp"

namespace skua::ws {

// Input from the peer -----------------------------------------------------------------------------

void Socket::receive(std::span<char> input) {
  if (is_open()) heard_ = wire_.now();
  is_pinged_ = false;
  if (!has_held() && may_read()) read(input);
  if (input.empty() || is_closed()) return;
  backlog().held.append(input.data(), input.size());
}

void Socket::receive_end() {
  has_peer_ended_ = true;
  if (is_closed() || has_held()) return;
  const bool has_said_so = state_ == State::Closing;
  // RFC 6455 §7.1.5: without a Close from the peer, the code is 1006 (Abnormal).
  end(CloseCode::Abnormal, has_said_so ? "the peer did not answer the close"
                                       : "the peer closed the connection without a Close frame");
  tell_end();
}

void Socket::resume() {
  if (is_reading_) return;
  if (has_held()) read_held();
  tell_end();
}

// Does not read while the peer does not take our output: pongs would pile up.
bool Socket::may_read() const noexcept {
  return pending_ == Pending::None && !is_closed() &&
         wire_.pending_bytes() < wire_high_water_bytes && !has_queue();
}

void Socket::read_held() {
  if (!may_read()) return;
  std::span<char> input;
  if (has_held()) input = std::span(backlog_->held).subspan(backlog_->held_used);
  read(input);
  if (!input.empty() && !is_closed()) {
    backlog_->held_used = backlog_->held.size() - input.size();
    return;
  }
  if (backlog_ != nullptr) {
    std::string().swap(backlog_->held);
    backlog_->held_used = 0;
    drop_empty_backlog();
  }
  if (has_peer_ended_) receive_end();
}

void Socket::read(std::span<char>& input) try {
  if (reader_ == nullptr && input.empty()) return;
  is_reading_ = true;
  while (may_read()) {
    if (reader_ == nullptr) take_reader();
    switch (reader_->next(input)) {
      case MessageReader::Event::NeedMore:
        is_reading_ = false;
        if (reader_->is_idle()) wire_.codecs().give_back(std::move(reader_));
        return;
      case MessageReader::Event::Message: handle_message(); break;
      case MessageReader::Event::Ping: handle_control(WebSocketControl::Ping); break;
      case MessageReader::Event::Pong: handle_control(WebSocketControl::Pong); break;
      case MessageReader::Event::Close: handle_close(); break;
      case MessageReader::Event::Failed: fail(reader_->reason()); break;
    }
  }
  is_reading_ = false;
  tell_end();
} catch (const std::bad_alloc&) {
  is_reading_ = false;  // so that tell_end() resumes the receiver
  throw;
}

void Socket::take_reader() {
  reader_ = wire_.codecs().take_reader(role_, options_.message_bytes,
                                       coding_ != nullptr ? &coding_->inflater() : nullptr);
}

void Socket::handle_message() {
  if (!is_open()) return;  // RFC 6455 §1.4: data after our Close may be dropped
  if (has_listener_) return wire_.on_message({reader_->payload(), reader_->type()});
  reader_->keep_payload();
  pending_ = Pending::Ready;
  if (receiver_) resume_receiver();
}

void Socket::handle_control(WebSocketControl control) {
  const bool is_ping = control == WebSocketControl::Ping;
  if (is_ping && is_open()) write_frame(Opcode::Pong, false, reader_->payload());
  if (extras_ == nullptr || !extras_->on_control) return;
  // A copy, since the call may replace the callback or close the socket.
  const ControlCallback call = extras_->on_control;
  try {
    call(control, reader_->payload());
  } catch (...) {
    wire_.callback_failed(std::current_exception());
  }
}

void Socket::tell_end() noexcept {
  if (is_closed() && receiver_ && !is_reading_) resume_receiver();
}

// Resumes directly, so that the receiver can use a message before its bytes are gone, and without a
// loop iteration per message.
void Socket::resume_receiver() noexcept { std::exchange(receiver_, {}).resume(); }

// Time --------------------------------------------------------------------------------------------

std::optional<loop::Instant> Socket::deadline() const noexcept {
  if (state_ != State::Open) return later(heard_, options_.close);
  if (!is_timed()) return std::nullopt;
  return later(heard_, is_pinged_ ? options_.idle : std::min(options_.ping, options_.idle));
}

// Restarts the idle timer: while we were not reading, the peer could not show that it is alive.
void Socket::listen_again() noexcept {
  if (is_open()) heard_ = wire_.now();
  is_pinged_ = false;
}

// Receiving coroutines ----------------------------------------------------------------------------

bool Socket::prepare_receive() {
  if (receiver_) throw std::logic_error("WebSocket::receive: already receiving");
  if (pending_ == Pending::Taken) {
    pending_ = Pending::None;
    listen_again();
  }
  if (!is_reading_ && pending_ == Pending::None) read_held();
  return pending_ == Pending::Ready || is_closed();
}

void Socket::park_receiver(std::coroutine_handle<> receiver) {
  receiver_ = receiver;
  if (!is_reading_) wire_.settle_later();  // reading may continue
}

// Lets reading continue, or the reply to our Close would never be read.
void Socket::release_message() noexcept {
  if (pending_ == Pending::Taken) pending_ = Pending::None;
  if (extras_ != nullptr) extras_->on_control = nullptr;
  wire_.settle_later();
}

std::optional<Message> Socket::take_message() noexcept {
  if (pending_ != Pending::Ready) return std::nullopt;
  pending_ = Pending::Taken;
  return Message{reader_->payload(), reader_->type()};
}

}  // namespace skua::ws
