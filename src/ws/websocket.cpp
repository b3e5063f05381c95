// SPDX-License-Identifier: MIT
#include "skua/websocket.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "ws/close_code.hpp"
#include "ws/remote_socket.hpp"
#include "ws/socket.hpp"

namespace skua {

using ws::Socket;

detail::MessageAwaiter::~MessageAwaiter() {
  if (is_parked_) socket_->forget_receiver();
}

namespace {

// Another thread would race with the socket's own, and could not wake its loop.
void need_own_thread(const Socket& socket) {
  if (!socket.is_open()) return;  // it may be told of after its loop has ended
  socket.wire().thread().need(
      "skua::WebSocket: it belongs to another thread: keep its sender(), which any thread may use");
}

}  // namespace

bool detail::MessageAwaiter::await_ready() const { return socket_->prepare_receive(); }

void detail::MessageAwaiter::await_suspend(std::coroutine_handle<> receiver) {
  is_parked_ = true;
  socket_->park_receiver(receiver);
}

std::optional<Message> detail::MessageAwaiter::await_resume() noexcept {
  is_parked_ = false;
  return socket_->take_message();
}

detail::SendAwaiter::SendAwaiter(ws::Socket& socket, MessageType type, std::string_view content)
    : socket_(&socket), content_(content), type_(type) {
  need_own_thread(socket);
  const Socket::Sent sent = socket_->send(type_, content_, Socket::Sending::MayWait);
  must_wait_ = sent == Socket::Sent::MustWait;
  is_sent_ = sent == Socket::Sent::Taken;
}

detail::SendAwaiter::~SendAwaiter() {
  // Not awaited, and no room: treated like a sender that cannot wait.
  if (must_wait_ && !is_awaited_) socket_->send(type_, content_, Socket::Sending::Now);
}

void detail::SendAwaiter::await_suspend(std::coroutine_handle<> sender) {
  is_awaited_ = true;
  socket_->senders().park(waiter_, sender);
}

bool detail::SendAwaiter::await_resume() {
  if (must_wait_) {
    is_sent_ = socket_->send(type_, content_, Socket::Sending::Waited) == Socket::Sent::Taken;
  }
  return is_sent_;
}

void detail::SocketRelease::operator()(ws::Socket* socket) const noexcept {
  socket->wire().release();
}

detail::SendAwaiter WebSocket::send(std::string_view text) {
  return {*socket_, MessageType::Text, text};
}

detail::SendAwaiter WebSocket::send(Bytes bytes) {
  return {*socket_, MessageType::Binary, skua::text(bytes)};
}

void WebSocket::ping(std::string_view payload) {
  need_own_thread(*socket_);
  socket_->ping(payload);
}

void WebSocket::on_control(std::function<void(WebSocketControl, std::string_view)> call) {
  socket_->on_control(std::move(call));
}

void WebSocket::close(CloseCode code, std::string_view reason) {
  need_own_thread(*socket_);
  socket_->close(code, reason);
}

bool WebSocket::is_open() const noexcept { return socket_->is_open(); }

const CloseReason& WebSocket::close_reason() const noexcept { return socket_->reason(); }

std::string_view WebSocket::subprotocol() const noexcept { return socket_->subprotocol(); }

bool WebSocket::is_compressed() const noexcept { return socket_->is_compressed(); }

std::uint64_t WebSocket::queued_bytes() const noexcept { return socket_->queued_bytes(); }

void WebSocket::subscribe(std::string_view topic) {
  need_own_thread(*socket_);
  socket_->subscribe(topic);
}

void WebSocket::unsubscribe(std::string_view topic) {
  need_own_thread(*socket_);
  socket_->unsubscribe(topic);
}

void WebSocket::publish(std::string_view topic, std::string_view text, MessageType type) {
  need_own_thread(*socket_);
  socket_->publish(topic, type, text);
}

WebSocketSender WebSocket::sender() { return WebSocketSender(socket_->remote()); }

Attachments& WebSocket::attachments() { return socket_->attachments(); }

void WebSocketSender::send(std::string_view text, MessageType type) const {
  remote_->send(type, std::string(text));
}

void WebSocketSender::close(CloseCode code, std::string_view reason) const {
  Socket::check_close(code, reason);
  remote_->close(code, std::string(reason));
}

bool WebSocketSender::is_open() const noexcept { return remote_->is_open(); }

}  // namespace skua
