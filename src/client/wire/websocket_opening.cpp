// SPDX-License-Identifier: MIT
// In: a connected stream and a handshake. Out: the stream, once the server has accepted. Receives
// only until then: later data is for the WebSocket.
#include "client/wire/websocket_opening.hpp"

#include <utility>

#include "client/problem.hpp"
#include "client/waiting.hpp"

namespace skua::client {

using Step = ws::ClientHandshake::Step;

WebSocketOpening::WebSocketOpening(loop::Loop& loop, net::HeldStream stream,
                                   ws::ClientHandshake& handshake)
    : loop_(loop),
      stream_(std::move(stream)),
      handshake_(handshake),
      request_(std::make_unique<net::SentText>(handshake.request())) {
  stream_->listen(*this);
}

WebSocketOpening::~WebSocketOpening() {
  if (stream_) net::SentText::close(std::move(request_), std::move(stream_));
}

Task<Result<void, Problem>> WebSocketOpening::run(std::string step, Duration limit) {
  const loop::Instant began = loop_.now();
  stream_->start_receive();
  send();
  while (!is_over_) {
    const Duration left = limit - (loop_.now() - began);
    if (left <= Duration(0)) co_return timed_out(step, {limit, "ClientTimeouts::head"});
    co_await TimedWait(loop_, changed_, left);
  }
  if (step_ == Step::Open && sent_bytes_ == request_->text.size()) co_return {};
  if (step_ == Step::Refused) {
    const Problem& why = handshake_.problem();
    co_return could_not(step, why.error, why.text);
  }
  const Error failure = send_failure_.value_or(receive_end_.value_or(Errc::None));
  if (failure.code() != Errc::None) co_return could_not(step, failure);
  const bool is_silent = received_.empty();
  co_return could_not(step, Errc::Closed,
                      is_silent ? "the server closed the connection without an answer"
                                : "the server closed the connection in the middle of its answer");
}

// on_sent() continues a send that the stream has not taken.
void WebSocketOpening::send() {
  while (sent_bytes_ < request_->text.size()) {
    const net::Slice rest{request_->text.data() + sent_bytes_, request_->text.size() - sent_bytes_};
    const std::size_t taken = stream_->send({&rest, 1});
    sent_bytes_ += taken;
    if (taken < rest.size_bytes) return;
  }
}

void WebSocketOpening::on_sent(std::size_t count) {
  sent_bytes_ += count;
  guarded([this] { send(); }, [this](Error error) { receive_end_ = error; });
  look();
}

void WebSocketOpening::on_receive(std::span<char> bytes) {
  guarded(
      [&] {
        received_.append(bytes.data(), bytes.size());
        if (step_ == Step::NeedMore) step_ = handshake_.read(received_);
      },
      [this](Error error) { receive_end_ = error; });
  if (step_ != Step::NeedMore) stream_->stop_receive();  // later data is for the WebSocket
  look();
}

void WebSocketOpening::on_receive_end(Error error) {
  receive_end_ = error;
  look();
}

// The server may still answer, e.g. 431 for a head that it refused to read, which says more.
void WebSocketOpening::on_send_failed(Error error) { send_failure_ = error; }

// A stream with a pending send cannot be handed over.
void WebSocketOpening::look() noexcept {
  if (is_over_) return;
  const bool is_open = step_ == Step::Open && sent_bytes_ == request_->text.size();
  is_over_ = is_open || step_ == Step::Refused || receive_end_;
  if (!is_over_) return;
  stream_->stop_receive();
  changed_.wake_all();
}

}  // namespace skua::client
