// SPDX-License-Identifier: MIT
// In: messages. Out: frames, written at once while the peer keeps up. Otherwise complete frames
// wait in a queue, whose limit WebSocketOptions::slow_peer enforces.

#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#include "ws/close_code.hpp"
#include "ws/message_coding.hpp"
#include "ws/remote_socket.hpp"
#include "ws/socket.hpp"
#include "ws/socket_extras.hpp"
#include "ws/topics.hpp"

namespace skua::ws {
namespace {

// Loops do not guard posted calls.
template <class Call>
void call_guarded(Socket* socket, Call&& call) noexcept {
  if (socket == nullptr) return;
  try {
    call(*socket);
  } catch (const std::bad_alloc&) {
    socket->give_up();
  }
}

}  // namespace

Socket::Sent Socket::send(MessageType type, std::string_view content, Sending sending) {
  if (!is_open()) return Sent::Refused;
  const bool may_wait = sending == Sending::MayWait && options_.slow_peer == SlowPeer::Wait;
  if (may_wait && (has_senders() || !has_room(content.size()))) return Sent::MustWait;
  // Waiting senders resume together, and each may write its message.
  const bool is_due = sending == Sending::Waited || has_room(content.size());
  if (!is_due && !make_room(content.size())) return Sent::Refused;
  write_message(type, content);
  return Sent::Taken;
}

void Socket::publish_here(const Publication& publication) noexcept try {
  if (!is_open()) return;
  const bool is_deflated = coding_ != nullptr && coding_->takes_shared();
  const SharedText& frame = is_deflated ? publication.deflated() : publication.plain();
  if (!has_room(frame.text.size()) && !make_room(frame.text.size())) return;
  write_piece(Body(frame));
} catch (const std::bad_alloc&) {
  give_up();
}

// A message of any size fits if nothing is waiting.
bool Socket::has_room(std::size_t size_bytes) const noexcept {
  const std::uint64_t waiting = queued_bytes();
  return waiting == 0 || waiting + size_bytes <= options_.queue_bytes;
}

// Applies the policy for a message that does not fit and cannot wait.
bool Socket::make_room(std::size_t size_bytes) {
  switch (options_.slow_peer) {
    case SlowPeer::DropNewest: return false;
    case SlowPeer::DropOldest:
      while (has_queue() && !has_room(size_bytes)) backlog_->queue.pop();
      return true;
    case SlowPeer::Wait:
    case SlowPeer::Close: break;
  }
  drop_queue();
  fail({CloseCode::PolicyViolation, "messages are read too slowly"});
  return false;
}

void Socket::write_message(MessageType type, std::string_view content) {
  const Opcode opcode = type == MessageType::Text ? Opcode::Text : Opcode::Binary;
  if (coding_ != nullptr && coding_->is_worth(content.size())) {
    return write_frame(opcode, true, coding_->deflate(content));
  }
  write_frame(opcode, false, content);
}

void Socket::write_frame(Opcode opcode, bool is_compressed, std::string_view payload) {
  // Control frames may overtake queued messages. RFC 6455 §5.4
  const bool goes_now = is_control(opcode) || (!has_queue() && wire_has_room());
  if (!goes_now) return write_piece(Body(frame_of(opcode, is_compressed, payload)));
  const FrameHeader header = header_of(opcode, is_compressed, payload.size());
  if (header.is_masked) {
    wire_.write(Body(make_frame(header, payload)));
  } else {
    std::array<char, longest_header_bytes> text;
    const char* const end = write_frame_header(header, text.data());
    wire_.write_frame({text.data(), static_cast<std::size_t>(end - text.data())}, payload);
  }
  wire_.settle_later();
}

// Clients mask their frames. RFC 6455 §5.3
FrameHeader Socket::header_of(Opcode opcode, bool is_compressed, std::size_t payload_bytes) {
  const bool is_masked = role_ == Role::Client;
  return {.payload_bytes = payload_bytes,
          .opcode = opcode,
          .is_final = true,
          .is_compressed = is_compressed,
          .is_masked = is_masked,
          .key = is_masked ? wire_.codecs().next_mask() : std::array<char, 4>{}};
}

std::string Socket::frame_of(Opcode opcode, bool is_compressed, std::string_view payload) {
  return make_frame(header_of(opcode, is_compressed, payload.size()), payload);
}

void Socket::write_piece(Body&& frame) {
  if (!has_queue() && wire_has_room()) {
    wire_.write(std::move(frame));
  } else {
    backlog().queue.push(std::move(frame));
    was_full_ = true;
  }
  wire_.settle_later();
}

// RFC 6455 §5.5.1: no data frames may follow a Close, so it queues behind them.
void Socket::write_close(CloseCode code, std::string_view reason) {
  const std::string payload = ws::write_close(code, reason);
  if (!has_queue()) return write_frame(Opcode::Close, false, payload);
  write_piece(Body(frame_of(Opcode::Close, false, payload)));
}

void Socket::output_drained() {
  while (has_queue() && wire_has_room()) {
    wire_.write(backlog_->queue.pop());
    wire_.settle_later();
  }
  if (backlog_ != nullptr) drop_empty_backlog();
  if (!wire_has_room() || has_queue()) {
    is_blocked_ = true;
  } else if (is_blocked_) {
    is_blocked_ = false;
    listen_again();
  }
  // Half of the limit, so that a slow peer does not cause a resumption for every byte it takes.
  if (queued_bytes() > options_.queue_bytes / 2) return;
  wake_senders();
  const bool was_full = was_full_;
  was_full_ = false;
  if (was_full && has_listener_ && is_open()) wire_.on_drained();
}

void Socket::wake_senders() noexcept {
  if (!had_senders_) return;
  had_senders_ = false;
  extras_->senders.wake_all();
}

void Socket::ping(std::string_view payload) {
  if (payload.size() > longest_control_bytes) {
    throw std::invalid_argument("WebSocket::ping: more than 125 bytes");
  }
  if (!is_open()) return;
  // Queued in order, so that its pong confirms the messages before it.
  if (!has_queue()) return write_frame(Opcode::Ping, false, payload);
  write_piece(Body(frame_of(Opcode::Ping, false, payload)));
}

void Socket::check_close(CloseCode code, std::string_view reason) {
  if (!is_sendable(code)) throw std::invalid_argument("WebSocket: close code must not be sent");
  if (reason.size() > longest_reason_bytes) {
    throw std::invalid_argument("WebSocket: close reason exceeds 123 bytes");
  }
}

void Socket::close(CloseCode code, std::string_view reason) {
  check_close(code, reason);
  if (!is_open()) return;
  write_close(code, reason);
  state_ = State::Closing;
  heard_ = wire_.now();
  if (pending_ == Pending::Ready) pending_ = Pending::None;  // not delivered yet
  wake_senders();
}

std::uint64_t Socket::queued_bytes() const noexcept {
  return wire_.pending_bytes() + (backlog_ != nullptr ? backlog_->queue.size_bytes() : 0);
}

void RemoteSocket::send(MessageType type, std::string text) {
  if (!is_open()) return;
  post_([self = shared_from_this(), type, text = std::move(text)] {
    call_guarded(self->socket_,
                 [&](Socket& socket) { socket.send(type, text, Socket::Sending::Now); });
  });
}

void RemoteSocket::close(CloseCode code, std::string reason) {
  if (!is_open()) return;
  post_([self = shared_from_this(), code, reason = std::move(reason)] {
    call_guarded(self->socket_, [&](Socket& socket) { socket.close(code, reason); });
  });
}

}  // namespace skua::ws
