// SPDX-License-Identifier: MIT
// Connects a pump and a client's WebSocket. Every event ends in settle(), which sends what was
// written, then decides whether to read on or to close, and how long to wait for the server.
#include "client/wire/websocket_connection.hpp"

#include <new>
#include <utility>

#include "loop/clock.hpp"

namespace skua::client {

WebSocketConnection::WebSocketConnection(std::shared_ptr<Core> core, net::HeldStream stream,
                                         const WebSocketOptions& options, ws::Agreement&& agreement)
    : core_(std::move(core)),
      options_(options),
      pump_(static_cast<net::StreamPumpUser&>(*this), core_->loop, core_->blocks),
      socket_(ws::Role::Client, options_, std::move(agreement), static_cast<ws::Wire&>(*this)) {
  pump_.take(std::move(stream));  // nothing is thrown from here on
  core_->websockets.push_back(*this);
}

WebSocket WebSocketConnection::hold() noexcept {
  held_ = shared_from_this();
  return WebSocket(socket_);
}

void WebSocketConnection::release() noexcept {
  const auto held = std::move(held_);
  abandon();
}

// May run in the middle of a call, if a task that was resumed there lets go of the socket.
void WebSocketConnection::abandon() {
  if (is_closed()) return;
  self_ = shared_from_this();
  end_by_ = later(core_->loop.now(), options_.close);
  socket_.release_message();
  close_socket(CloseCode::Normal);
  if (core_->is_broken_off) return break_off();
  settle_later();
}

void WebSocketConnection::break_off() {
  pump_.guarded([this] { pump_.flush(); });
  pump_.close();
}

// Without random bytes for a mask, or without memory, no Close frame can be sent.
void WebSocketConnection::close_socket(CloseCode code) noexcept {
  try {
    socket_.close(code, {});
  } catch (...) {
    is_cut_off_ = true;
    socket_.cancel();
  }
}

// Gives the task that waited for the socket the rest of this turn to get ready.
void WebSocketConnection::start(std::string received, std::optional<Error> receive_end) {
  early_ = Early{std::move(received), receive_end};
  settle_later();
}

void WebSocketConnection::take_early() {
  if (!early_) return;
  Early early = *std::move(early_);
  early_.reset();
  socket_.receive(early.received);
  if (early.end) pump_.end_input(*early.end);
}

// Events of the pump ------------------------------------------------------------------------------

void WebSocketConnection::on_receive(std::span<char> bytes) {
  socket_.receive(bytes);
  settle_later();
}

void WebSocketConnection::on_receive_end(Error error) {
  if (error.code() != Errc::None) return pump_.close();
  socket_.receive_end();
}

void WebSocketConnection::on_closing() noexcept {
  socket_.cancel();
  ended_.wake_all();
}

void WebSocketConnection::on_closed() {
  const auto self = shared_from_this();
  unlink();
  core_->closed.wake_all();
  self_.reset();
}

// Nothing can follow half of a frame.
void WebSocketConnection::write(Body&& piece) {
  try {
    pump_.output().append_piece(std::move(piece));
  } catch (const std::bad_alloc&) {
    is_cut_off_ = true;
    socket_.cancel();
    throw;
  }
}

// Events of the socket ----------------------------------------------------------------------------

ws::Poster WebSocketConnection::poster() {
  return [mailbox = core_->loop.mailbox()](std::function<void()> call) {
    return mailbox->post(std::move(call));
  };
}

void WebSocketConnection::listen(WebSocket& socket,
                                 const ClientWebSocketCallbacks& callbacks) noexcept {
  websocket_ = &socket;
  callbacks_ = &callbacks;
  socket_.listen();
}

void WebSocketConnection::on_message(const Message& message) noexcept {
  if (callbacks_ == nullptr || !callbacks_->message) return;
  guarded([&] { callbacks_->message(*websocket_, message); });
}

void WebSocketConnection::on_drained() noexcept {
  if (callbacks_ == nullptr || !callbacks_->drain) return;
  guarded([&] { callbacks_->drain(*websocket_); });
}

// Turns -------------------------------------------------------------------------------------------

void WebSocketConnection::settle() {
  if (is_cut_off_) return pump_.close();
  take_early();
  pump_.flush_while([this] {
    if (!pump_.is_open() || !socket_.can_resume()) return false;
    socket_.resume();
    if (pump_.has_input_ended()) socket_.receive_end();
    return true;
  });
  if (pump_.state() > net::StreamPump::State::Ending) return;
  socket_.output_drained();
  if (socket_.is_closed()) ended_.wake_all();
  // Both sides have sent a Close frame, or one of them has violated the protocol.
  if (socket_.is_finished()) pump_.end();
  if (pump_.has_ended()) {  // RFC 6455 §7.1.1: the server is to close first
    const Duration patience = is_abandoned() ? end_by_ - core_->loop.now() : options_.close;
    return pump_.linger(patience, net::StreamPump::ShutdownOrder::PeersFirst);
  }
  pump_.set_receiving(pump_.is_open() && socket_.wants_input());
  start_timer();
}

void WebSocketConnection::start_timer() {
  if (is_abandoned()) return pump_.start_timer(end_by_ - core_->loop.now());
  if (const auto left = pump_.left_to_send(options_.idle)) return pump_.start_timer(*left);
  const auto deadline = socket_.deadline();
  if (!deadline) return pump_.stop_timer();
  pump_.start_timer(*deadline - core_->loop.now());
}

void WebSocketConnection::on_time_out() {
  if (is_abandoned() || pump_.is_sending() || !pump_.is_open()) return pump_.close();
  socket_.time_out();
  // A peer that does not answer will send nothing more either.
  if (socket_.is_closed() && socket_.reason().code == CloseCode::Abnormal) pump_.close();
}

}  // namespace skua::client
