// SPDX-License-Identifier: MIT
// In: a connected stream. Out: a secure one. Receives only during the handshake: later data is for
// the stream's next listener.
#include "sockets/handshake.hpp"

#include <utility>

#include "loop/timed_wait.hpp"

namespace skua::sockets {

Handshake::Handshake(loop::Loop& loop, net::HeldStream stream, std::unique_ptr<tls::Engine> engine)
    : loop_(loop),
      stream_(std::make_unique<tls::TlsStream>(loop, std::move(stream), std::move(engine))) {
  stream_->listen(*this);
}

Handshake::Handshake(loop::Loop& loop, net::HeldStream stream,
                     std::shared_ptr<const tls::ServerContext> context)
    : loop_(loop),
      stream_(std::make_unique<tls::TlsStream>(loop, std::move(stream), std::move(context))) {
  stream_->listen(*this);
}

Handshake::~Handshake() {
  if (stream_) net::close_detached(std::move(stream_));
}

Task<Result<net::HeldStream, Problem>> Handshake::run(std::string step, net::TimeLimit limit) {
  const loop::Instant began = loop_.now();
  stream_->start_receive();  // begins it
  while (!is_established_ && !has_failed_) {
    const Duration left = limit.time - (loop_.now() - began);
    if (left <= Duration(0)) co_return net::timed_out(step, limit);
    co_await loop::TimedWait(loop_, changed_, left);
  }
  if (!is_established_) co_return failure_of(step);
  net::HeldStream secure(std::move(stream_));
  co_return std::move(secure);
}

Problem Handshake::failure_of(const std::string& step) const {
  const Error error = failure_.code() == Errc::None ? Error(Errc::Closed, "TLS") : failure_;
  // The engine knows more about what it refused itself.
  const tls::Engine* const engine = stream_->engine_if_begun();
  if (engine != nullptr && engine->error().code() != Errc::None) {
    return net::could_not(step, error, engine->error_text());
  }
  const bool has_peer_left = error.code() == Errc::Closed || error.code() == Errc::Reset;
  return net::could_not(
      step, has_peer_left ? Error(Errc::TlsHandshakeFailed, "TLS") : error,
      error.code() == Errc::TlsCertificate ? net::reason_of(error) : error.message());
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

}  // namespace skua::sockets
