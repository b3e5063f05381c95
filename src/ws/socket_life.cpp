// SPDX-License-Identifier: MIT
// How a socket begins and ends, and features that few sockets use.
#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "loop/clock.hpp"
#include "ws/message_coding.hpp"
#include "ws/remote_socket.hpp"
#include "ws/socket.hpp"
#include "ws/socket_extras.hpp"
#include "ws/topics.hpp"

namespace skua::ws {

Socket::Socket(Role role, const WebSocketOptions& options, Agreement&& agreement, Wire& wire)
    : wire_(wire), options_(options), heard_(wire.now()), role_(role) {
  if (agreement.deflate) {
    coding_ = std::make_unique<MessageCoding>(role, *agreement.deflate, wire.codecs());
  }
  if (!agreement.subprotocol.empty()) extras().subprotocol = std::move(agreement.subprotocol);
}

Socket::~Socket() {
  if (extras_ == nullptr) return;
  if (extras_->remote != nullptr) extras_->remote->leave();
}

void Socket::handle_close() {
  const CloseReason& said = reader_->reason();
  if (is_open()) {
    // RFC 6455 §5.5.1: the reply typically echoes the code.
    write_close(said.code, {});
  }
  end(said.code, said.text);
}

// RFC 6455 §7.1.7: tells the peer why, and stops reading.
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
  wake_senders();
  wire_.settle_later();  // then tells the receiver
}

// Drops the reason if memory runs out: ending must not fail.
void Socket::keep_reason(CloseCode code, std::string_view text) noexcept try {
  CloseReason& kept = extras().reason;
  kept.code = code;
  kept.text = text;
} catch (const std::bad_alloc&) {
  return;
}

void Socket::cancel() noexcept {
  if (!is_closed()) end(CloseCode::Abnormal, "the connection was lost");
  drop_queue();
  tell_end();
}

// Leaves the receiver to settle(): it could change the subscriptions that are being visited.
void Socket::give_up() noexcept {
  if (!is_closed()) end(CloseCode::Abnormal, "memory ran out");
  drop_queue();
}

void Socket::time_out() {
  const loop::Instant now = wire_.now();
  if (state_ == State::Closing && now >= later(heard_, options_.close)) {
    end(CloseCode::Abnormal, "the peer did not answer the close");
    return tell_end();
  }
  if (state_ != State::Open) return;
  if (now >= later(heard_, options_.idle)) {
    fail({CloseCode::GoingAway, "idle timeout"});
    return tell_end();
  }
  if (is_pinged_ || now < later(heard_, options_.ping)) return;
  write_frame(Opcode::Ping, false, {});
  is_pinged_ = true;
}

bool Socket::is_overdue() const noexcept {
  return is_closed() && wire_.now() >= later(heard_, options_.close);
}

Socket::Backlog& Socket::backlog() {
  if (backlog_ == nullptr) backlog_ = std::make_unique<Backlog>();
  return *backlog_;
}

void Socket::drop_empty_backlog() noexcept {
  if (!has_held() && !has_queue()) backlog_.reset();
}

void Socket::drop_queue() noexcept {
  if (backlog_ == nullptr) return;
  backlog_->queue = {};
  drop_empty_backlog();
}

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

detail::WaiterList& Socket::senders() {
  detail::WaiterList& waiting = extras().senders;
  had_senders_ = true;
  return waiting;
}

bool Socket::has_senders() const noexcept { return had_senders_ && !extras_->senders.empty(); }

Attachments& Socket::attachments() { return extras().attachments; }

void Socket::on_control(ControlCallback call) { extras().on_control = std::move(call); }

void Socket::subscribe(std::string_view topic) {
  if (wire_.codecs().topics() == nullptr)
    throw std::logic_error("WebSocket::subscribe: a client has no topics");
  if (is_closed()) return;
  for (const auto& subscription : extras().subscriptions) {
    if (subscription->topic().name == topic) return;
  }
  extras_->subscriptions.push_back(wire_.codecs().topics()->subscribe(topic, *this));
}

void Socket::unsubscribe(std::string_view topic) {
  if (extras_ == nullptr) return;
  std::erase_if(extras_->subscriptions,
                [&](const auto& subscription) { return subscription->topic().name == topic; });
}

void Socket::publish(std::string_view topic, MessageType type, std::string_view text) {
  if (wire_.codecs().topics() == nullptr)
    throw std::logic_error("WebSocket::publish: a client has no topics");
  wire_.codecs().topics()->publish(topic, type, text);
}

const std::shared_ptr<RemoteSocket>& Socket::remote() {
  if (extras().remote == nullptr) {
    extras_->remote = std::make_shared<RemoteSocket>(*this, wire_.poster());
    if (is_closed()) extras_->remote->closed();
  }
  return extras_->remote;
}

}  // namespace skua::ws
