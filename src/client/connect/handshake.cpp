// SPDX-License-Identifier: MIT
// In: a connected stream. Out: a secure one. Receives only during the handshake: later data is for
// the stream's next listener.
#include "client/connect/handshake.hpp"

#include <utility>

#include "client/waiting.hpp"

namespace skua::client {

Handshake::Handshake(loop::Loop& loop, net::HeldStream stream, std::unique_ptr<tls::Engine> engine)
    : loop_(loop),
      stream_(std::make_unique<tls::TlsStream>(loop, std::move(stream), std::move(engine))) {
  stream_->listen(*this);
}

Handshake::~Handshake() {
  if (stream_) net::close_detached(std::move(stream_));
}

Task<Result<net::HeldStream, Problem>> Handshake::run(std::string step, Duration limit) {
  const loop::Instant began = loop_.now();
  stream_->start_receive();  // begins it
  while (!is_established_ && !has_failed_) {
    const Duration left = limit - (loop_.now() - began);
    if (left <= Duration(0)) co_return timed_out(step, {limit, "ClientTimeouts::handshake"});
    co_await TimedWait(loop_, changed_, left);
  }
  if (!is_established_) co_return failure_of(step);
  net::HeldStream secure(std::move(stream_));
  co_return std::move(secure);
}

Problem Handshake::failure_of(const std::string& step) const {
  const Error error = failure_.code() == Errc::None ? Error(Errc::Closed, "TLS") : failure_;
  // The engine knows more about what it refused itself.
  const bool is_engines = stream_->engine().error().code() != Errc::None;
  if (is_engines) return could_not(step, error, stream_->engine().error_text());
  const bool has_peer_left = error.code() == Errc::Closed || error.code() == Errc::Reset;
  return could_not(step, has_peer_left ? Error(Errc::TlsHandshakeFailed, "TLS") : error,
                   error.code() == Errc::TlsCertificate ? reason_of(error) : error.message());
}

void Handshake::on_established() {
  is_established_ = true;
  stream_->stop_receive();
  changed_.wake_all();
}

void Handshake::on_receive_end(Error error) {
  has_failed_ = true;
  failure_ = error;
  changed_.wake_all();
}

// No application data passes during the handshake.
void Handshake::on_receive(std::span<char> /*bytes*/) {}
void Handshake::on_sent(std::size_t /*count*/) {}
void Handshake::on_send_failed(Error /*error*/) {}
void Handshake::on_closed() {}

}  // namespace skua::client
