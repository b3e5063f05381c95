// SPDX-License-Identifier: MIT
// What a socket does with what its peer sends: messages to whoever takes them, answers to pings and
// closes. While a coroutine is busy with a message, or the peer does not take what it was sent,
// nothing more is read, so that both sides wait for each other and no memory grows.
#include "ws/socket.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/later.hpp"
#include "ws/close_code.hpp"
#include "ws/message_coding.hpp"
#include "ws/remote_socket.hpp"
#include "ws/socket_extras.hpp"
#include "ws/topics.hpp"

namespace skua::ws {

Socket::Socket(Role role, const WebSocketOptions& options, Agreement&& agreement, Wire& wire,
               Codecs& codecs, Topics* topics)
    : reader_(role, options.message_bytes),
      wire_(wire),
      options_(options),
      codecs_(codecs),
      topics_(topics),
      heard_(wire.now()),
      role_(role) {
  reader_.use_spare(codecs.spare());
  if (agreement.deflate) {
    coding_ = std::make_unique<MessageCoding>(role, *agreement.deflate, codecs);
    reader_.use(&coding_->inflater());
  }
  if (!agreement.subprotocol.empty()) extras().subprotocol = std::move(agreement.subprotocol);
}

Socket::~Socket() {
  if (extras_ == nullptr) return;
  if (extras_->remote != nullptr) extras_->remote->leave();
}

// What the peer sends -----------------------------------------------------------------------------

void Socket::receive(std::span<char> input) {
  if (is_open()) heard_ = wire_.now();
  is_pinged_ = false;
  if (!has_held() && may_read()) read(input);
  if (!input.empty() && !is_closed()) held_.append(input.data(), input.size());
}

void Socket::receive_end() {
  has_peer_ended_ = true;
  if (is_closed() || has_held()) return;
  const bool has_said_so = state_ == State::Closing;
  // RFC 6455 §7.1.5: without a close of the peer's the connection was cut.
  end(CloseCode::Abnormal, has_said_so ? "the peer did not answer the close"
                                       : "the peer closed the connection without a word");
  tell_end();
}

void Socket::resume() {
  if (is_reading_) return;
  if (has_held()) read_held();
  tell_end();
}

// Output that nobody takes: pongs would pile up behind it.
bool Socket::may_read() const noexcept {
  return pending_ == Pending::None && !is_closed() &&
         wire_.pending_bytes() < wire_high_water_bytes && queue_ == nullptr;
}

void Socket::read_held() {
  if (!may_read()) return;
  // Out of the way of what arrives meanwhile: that can only be told later.
  std::span<char> input(held_.data() + held_used_, held_.size() - held_used_);
  read(input);
  held_used_ = held_.size() - input.size();
  if (has_held() && !is_closed()) return;
  held_used_ = 0;
  std::string().swap(held_);
  if (has_peer_ended_) receive_end();
}

void Socket::read(std::span<char>& input) try {
  is_reading_ = true;
  while (may_read()) {
    switch (reader_.next(input)) {
      case MessageReader::Event::NeedMore: is_reading_ = false; return;
      case MessageReader::Event::Message: handle_message(); break;
      case MessageReader::Event::Ping: handle_control(WebSocketControl::Ping); break;
      case MessageReader::Event::Pong: handle_control(WebSocketControl::Pong); break;
      case MessageReader::Event::Close: handle_close(); break;
      case MessageReader::Event::Failed: fail(reader_.reason()); break;
    }
  }
  is_reading_ = false;
  tell_end();
} catch (const std::bad_alloc&) {
  is_reading_ = false;  // whoever receives is told of the end
  throw;
}

void Socket::handle_message() {
  if (!is_open()) return;  // RFC 6455 §1.4: what comes after our close may be dropped
  if (listener_ != nullptr) {
    return listener_->on_message({reader_.payload(), reader_.type()});
  }
  reader_.keep_payload();
  pending_ = Pending::Ready;
  if (receiver_) resume_receiver();
}

void Socket::handle_control(WebSocketControl control) {
  const bool is_ping = control == WebSocketControl::Ping;
  if (is_ping && is_open()) write_frame(Opcode::Pong, false, reader_.payload());
  if (extras_ == nullptr || !extras_->on_control) return;
  // It may be replaced, or the socket closed, meanwhile.
  const ControlCallback call = extras_->on_control;
  try {
    call(control, reader_.payload());
  } catch (...) {
    wire_.callback_failed(std::current_exception());
  }
}

void Socket::handle_close() {
  const CloseReason& said = reader_.reason();
  if (is_open()) {
    // RFC 6455 §5.5.1: the answer typically echoes the code.
    write_close(said.code, {});
  }
  end(said.code, said.text);
}

// RFC 6455 §7.1.7: the peer is told why, and nothing more is read.
void Socket::fail(const CloseReason& reason) {
  if (is_closed()) return;
  if (is_open()) write_close(reason.code, reason.text);
  end(reason.code, reason.text);
}

void Socket::end(CloseCode code, std::string_view text) noexcept {
  state_ = State::Closed;
  heard_ = wire_.now();
  keep_reason(code, text);
  if (extras_ != nullptr && extras_->remote != nullptr) extras_->remote->closed();
  senders_.wake_all();
  wire_.settle_later();  // then whoever receives is told
}

// As far as there is memory for it: an end must not fail.
void Socket::keep_reason(CloseCode code, std::string_view text) noexcept try {
  CloseReason& kept = extras().reason;
  kept.code = code;
  kept.text = text;
} catch (const std::bad_alloc&) {
  return;
}

void Socket::tell_end() noexcept {
  if (is_closed() && receiver_ && !is_reading_) resume_receiver();
}

// Where it waits: so that it can use a message before the bytes are gone, and without a turn of the
// loop for each.
void Socket::resume_receiver() noexcept { std::exchange(receiver_, {}).resume(); }

void Socket::cancel() noexcept {
  if (!is_closed()) end(CloseCode::Abnormal, "the connection was lost");
  queue_.reset();
  tell_end();
}

// Rarely needed -----------------------------------------------------------------------------------

Socket::Extras& Socket::extras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

const CloseReason& Socket::reason() const noexcept {
  static const CloseReason none;
  if (extras_ == nullptr) return none;
  return extras_->reason;
}

std::string_view Socket::subprotocol() const noexcept {
  return extras_ != nullptr ? std::string_view(extras_->subprotocol) : std::string_view();
}

Attachments& Socket::attachments() { return extras().attachments; }

void Socket::on_control(ControlCallback call) { extras().on_control = std::move(call); }

void Socket::subscribe(std::string_view topic) {
  if (topics_ == nullptr) throw std::logic_error("WebSocket::subscribe: a client has no topics");
  if (is_closed()) return;
  for (const auto& subscription : extras().subscriptions) {
    if (subscription->topic().name == topic) return;
  }
  extras_->subscriptions.push_back(topics_->subscribe(topic, *this));
}

void Socket::unsubscribe(std::string_view topic) {
  if (extras_ == nullptr) return;
  std::erase_if(extras_->subscriptions,
                [&](const auto& subscription) { return subscription->topic().name == topic; });
}

void Socket::publish(std::string_view topic, MessageType type, std::string_view text) {
  if (topics_ == nullptr) throw std::logic_error("WebSocket::publish: a client has no topics");
  topics_->publish(topic, type, text);
}

const std::shared_ptr<RemoteSocket>& Socket::remote() {
  if (extras().remote == nullptr) {
    extras_->remote = std::make_shared<RemoteSocket>(*this, wire_.poster());
    if (is_closed()) extras_->remote->closed();
  }
  return extras_->remote;
}

// Time --------------------------------------------------------------------------------------------

std::optional<loop::Instant> Socket::deadline() const noexcept {
  if (state_ != State::Open) return later(heard_, options_.close);
  if (!wants_input()) return std::nullopt;
  return later(heard_, is_pinged_ ? options_.idle : std::min(options_.ping, options_.idle));
}

void Socket::time_out() {
  const loop::Instant now = wire_.now();
  if (state_ == State::Closing && now >= later(heard_, options_.close)) {
    end(CloseCode::Abnormal, "the peer did not answer the close");
    return tell_end();
  }
  if (state_ != State::Open) return;
  if (now >= later(heard_, options_.idle)) {
    fail({CloseCode::GoingAway, "nothing was heard for too long"});
    return tell_end();
  }
  if (is_pinged_ || now < later(heard_, options_.ping)) return;
  write_frame(Opcode::Ping, false, {});
  is_pinged_ = true;
}

// While we did not read, the peer could not show that it is there.
void Socket::listen_again() noexcept {
  if (is_open()) heard_ = wire_.now();
  is_pinged_ = false;
}

bool Socket::is_overdue() const noexcept {
  return is_closed() && wire_.now() >= later(heard_, options_.close);
}

// Coroutines that receive -------------------------------------------------------------------------

bool Socket::prepare_receive() {
  if (receiver_) throw std::logic_error("WebSocket::receive: somebody receives already");
  if (pending_ == Pending::Taken) {
    pending_ = Pending::None;
    listen_again();
  }
  if (!is_reading_ && pending_ == Pending::None) read_held();
  return pending_ == Pending::Ready || is_closed();
}

void Socket::park_receiver(std::coroutine_handle<> receiver) {
  receiver_ = receiver;
  if (!is_reading_) wire_.settle_later();  // bytes are welcome again
}

// Else the answer to a close would never be read.
void Socket::release_message() noexcept {
  if (pending_ == Pending::Taken) pending_ = Pending::None;
  if (extras_ != nullptr) extras_->on_control = nullptr;
  wire_.settle_later();
}

std::optional<Message> Socket::take_message() noexcept {
  if (pending_ != Pending::Ready) return std::nullopt;
  pending_ = Pending::Taken;
  return Message{reader_.payload(), reader_.type()};
}

}  // namespace skua::ws
