// SPDX-License-Identifier: MIT
// Between a stream and a client's WebSocket. Every event ends in settle(): send what was written,
// then decide whether to read on or to close, and how long to wait for the server.
#include "client/websocket_connection.hpp"

#include <new>
#include <utility>

#include "base/later.hpp"
#include "client/guarded.hpp"

namespace skua::client {
namespace {

constexpr int resumes_per_turn = 16;

}  // namespace

WebSocketConnection::WebSocketConnection(std::shared_ptr<Core> core, net::HeldStream stream,
                                         const WebSocketOptions& options, ws::Agreement&& agreement)
    : core_(std::move(core)),
      options_(options),
      output_(core_->blocks),
      socket_(ws::Role::Client, options_, std::move(agreement), static_cast<ws::Wire&>(*this),
              core_->codecs, nullptr),
      timer_(core_->loop.timers(), loop::call_member<&WebSocketConnection::time_out>, this),
      settle_later_(loop::call_member<&WebSocketConnection::settle>, this) {
  stream_ = std::move(stream);  // nothing is thrown from here on
  stream_->listen(*this);
  core_->websockets.push_back(*this);
}

std::shared_ptr<void> WebSocketConnection::hold() {
  return {this, [self = shared_from_this()](void*) { self->abandon(); }};
}

// It may be in the middle of a call: whoever was resumed there has let go of it.
void WebSocketConnection::abandon() {
  if (state_ == State::Closed) return;
  self_ = shared_from_this();
  end_by_ = later(core_->loop.now(), options_.close);
  socket_.release_message();
  close_socket(CloseCode::Normal);
  if (core_->is_broken_off) return break_off();
  settle_later();
}

void WebSocketConnection::break_off() {
  guard([this] { flush(); });
  close();
}

// Where there are no random bytes for a mask, or no memory, nothing can be said.
void WebSocketConnection::close_socket(CloseCode code) noexcept {
  try {
    socket_.close(code, {});
  } catch (...) {
    is_cut_off_ = true;
    socket_.cancel();
  }
}

// Whoever has waited for the socket first has the rest of this turn to get ready.
void WebSocketConnection::start(std::string received, std::optional<Error> receive_end) {
  early_ = Early{std::move(received), receive_end};
  settle_later();
}

void WebSocketConnection::take_early() {
  if (!early_) return;
  Early early = *std::move(early_);
  early_.reset();
  socket_.receive(early.received);
  if (early.end) on_receive_end(*early.end);
}

void WebSocketConnection::close() {
  if (state_ == State::Closing || state_ == State::Closed) return;
  const auto self = shared_from_this();
  state_ = State::Closing;
  timer_.stop();
  socket_.cancel();
  settle_later_.cancel();
  ended_.wake_all();
  stream_->close();
}

template <class Work>
void WebSocketConnection::guard(Work&& work) noexcept {
  client::guarded(std::forward<Work>(work), [this](Error) { close(); });
}

// What the stream tells ---------------------------------------------------------------------------

void WebSocketConnection::on_receive(std::span<char> bytes) {
  if (state_ != State::Open) return;  // thrown away
  const auto self = shared_from_this();
  guard([&] { socket_.receive(bytes); });
  if (state_ == State::Open) settle_later();
}

void WebSocketConnection::on_receive_end(Error error) {
  const auto self = shared_from_this();
  has_peer_ended_ = true;
  is_receiving_ = false;
  if (error.code() != Errc::None || state_ == State::Lingering) return close();
  if (state_ != State::Open) return;
  guard([this] { socket_.receive_end(); });
  settle();
}

void WebSocketConnection::on_sent(std::size_t count) {
  is_sending_ = false;
  is_write_timed_ = false;
  output_.consume(count);
  settle();
}

void WebSocketConnection::on_send_failed(Error) { close(); }

void WebSocketConnection::on_closed() {
  const auto self = shared_from_this();
  state_ = State::Closed;
  unlink();
  core_->closed.wake_all();
  self_.reset();
}

// Nothing can follow half of a frame.
void WebSocketConnection::write(Body&& piece) {
  try {
    output_.append_piece(std::move(piece));
  } catch (const std::bad_alloc&) {
    is_cut_off_ = true;
    socket_.cancel();
    throw;
  }
}

// What the socket tells ---------------------------------------------------------------------------

ws::Poster WebSocketConnection::poster() {
  return [mailbox = core_->loop.mailbox()](std::function<void()> call) {
    return mailbox->post(std::move(call));
  };
}

void WebSocketConnection::listen(WebSocket& socket,
                                 const ClientWebSocketCallbacks& callbacks) noexcept {
  websocket_ = &socket;
  callbacks_ = &callbacks;
  socket_.listen(static_cast<ws::SocketListener&>(*this));
}

void WebSocketConnection::on_message(const Message& message) noexcept {
  if (callbacks_ == nullptr || !callbacks_->message) return;
  guarded([&] { callbacks_->message(*websocket_, message); });
}

void WebSocketConnection::on_drained() noexcept {
  if (callbacks_ == nullptr || !callbacks_->drain) return;
  guarded([&] { callbacks_->drain(*websocket_); });
}

// Its turns ---------------------------------------------------------------------------------------

void WebSocketConnection::settle() {
  const auto self = shared_from_this();
  guard([this] { go_on(); });
}

void WebSocketConnection::go_on() {
  settle_later_.cancel();
  if (is_cut_off_) return close();
  take_early();
  flush();
  for (int round = 0; state_ == State::Open && socket_.can_resume(); ++round) {
    if (round == resumes_per_turn) {
      settle_later();  // others have their turn first
      break;
    }
    socket_.resume();
    if (has_peer_ended_) socket_.receive_end();
    flush();
  }
  if (state_ >= State::Lingering) return;
  socket_.output_drained();
  if (socket_.is_closed()) ended_.wake_all();
  if (state_ == State::Open && socket_.is_finished()) state_ = State::Finishing;
  if (state_ == State::Finishing && output_.empty()) return finish();
  set_receiving(state_ == State::Open && socket_.wants_input() && !has_peer_ended_);
  start_timer();
}

void WebSocketConnection::flush() {
  if (is_sending_ || state_ >= State::Closing) return;
  const net::Sent sent = net::send_queued(output_, *stream_);
  is_sending_ = sent.is_pending;
  if (sent.bytes != 0) is_write_timed_ = false;
}

// Both sides have said goodbye, or one of them has broken the rules.
void WebSocketConnection::finish() {
  if (has_peer_ended_) return close();
  state_ = State::Lingering;
  set_receiving(true);
  timer_.start(is_abandoned() ? end_by_ - core_->loop.now() : options_.close);
}

void WebSocketConnection::set_receiving(bool wanted) {
  if (wanted == is_receiving_) return;
  is_receiving_ = wanted;
  if (wanted) {
    stream_->start_receive();
  } else {
    stream_->stop_receive();
  }
}

void WebSocketConnection::start_timer() {
  if (is_abandoned()) return timer_.start(end_by_ - core_->loop.now());
  if (is_sending_) {
    if (!is_write_timed_) timer_.start(options_.idle);
    is_write_timed_ = true;
    return;
  }
  const auto deadline = socket_.deadline();
  if (!deadline) return timer_.stop();
  timer_.start(*deadline - core_->loop.now());
}

void WebSocketConnection::time_out() {
  const auto self = shared_from_this();
  if (is_abandoned() || is_sending_ || state_ != State::Open) return close();
  guard([this] { socket_.time_out(); });
  // Whoever does not answer has nothing to say either.
  if (socket_.is_closed() && socket_.reason().code == CloseCode::Abnormal) return close();
  settle();
}

}  // namespace skua::client
