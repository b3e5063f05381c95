// SPDX-License-Identifier: MIT
// What happens to a connection once: it begins, finds out what is spoken on it, grows old and ends.
#include <new>
#include <string>
#include <utility>

#include "base/later.hpp"
#include "h2/preface.hpp"
#include "server/connection.hpp"
#include "server/h1_writer.hpp"
#include "server/h2_session.hpp"
#include "skua/method.hpp"

namespace skua::server {
namespace {

// RFC 9113 §3.4: a preface that is of no HTTP. Three words of which neither the method nor the
// version is one: whoever says that could not read an answer.
bool is_foreign(std::string_view first_bytes) noexcept {
  const std::size_t end = first_bytes.find("\r\n");
  if (end == std::string_view::npos) return false;
  const std::string_view line = first_bytes.substr(0, end);
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  return first != last && !parse_method(line.substr(0, first)) &&
         line.substr(last).find('/') == std::string_view::npos;
}

}  // namespace

Connection::Connection(Resources& resources, ConnectionOwner& owner,
                       std::unique_ptr<net::Stream> stream)
    : resources_(resources),
      owner_(owner),
      stream_(std::move(stream)),
      output_(resources.blocks),
      h1_(resources, *stream_, output_, static_cast<SessionOwner&>(*this)),
      timer_(resources.loop.timers(), on_deadline, this),
      settle_later_(on_turn_end, this) {
  stream_->listen(*this);
}

void Connection::start() {
  guarded([this] { set_receiving(true); });
  if (state_ == State::Closing) return;
  // A peer that connects and says nothing has as long as one that dawdles over its head.
  const Timeouts& timeouts = resources_.options.timeouts;
  timer_.start(stream_->is_established() ? timeouts.head : timeouts.handshake);
}

void Connection::drain() {
  static_cast<void>(grants_handshake());
  guarded([this] { session_->drain(); });
  if (state_ == State::Open) settle_later();
}

void Connection::close() {
  if (state_ == State::Closing) return;
  state_ = State::Closing;
  timer_.stop();
  session_->cancel();
  settle_later_.cancel();
  if (journal_ != nullptr) journal_->end();
  if (const auto& tell = resources_.options.hooks.on_connection_close) tell();
  stream_->close();
}

// A handshake that has begun is let finish by a drain; who has said nothing has the grace only.
bool Connection::grants_handshake() noexcept {
  if (!stream_->is_handshaking() || is_handshake_granted_) return false;
  is_handshake_granted_ = true;
  return true;
}

void Connection::on_established() {
  const Timeouts& timeouts = resources_.options.timeouts;
  timer_.start(resources_.is_draining ? timeouts.drain_grace : timeouts.head);
}

// The peer speaks what was agreed on with TLS, or what its first bytes say. False while they may
// become either.
bool Connection::choose_session(std::string_view input) {
  if (resources_.options.http2) {
    const std::string_view rest = h2::client_preface.substr(preface_bytes_);
    const bool is_plain = !stream_->is_secure();
    if (is_plain && input.size() < rest.size() && rest.starts_with(input)) {
      preface_bytes_ += static_cast<std::uint8_t>(input.size());
      return false;
    }
    if (is_plain && preface_bytes_ == 0 && is_foreign(input)) return close(), false;
    if (stream_->protocol() == "h2" || (is_plain && input.starts_with(rest))) {
      replace_session(std::make_unique<H2Session>(resources_, *stream_, output_,
                                                  static_cast<SessionOwner&>(*this)));
    }
  }
  begin_session();
  return true;
}

void Connection::begin_session() {
  is_new_ = false;
  if (preface_bytes_ == 0) return;
  std::string began(h2::client_preface.substr(0, preface_bytes_));
  session_->receive(began);
}

void Connection::replace_session(std::unique_ptr<Session> next) noexcept {
  other_ = std::move(next);
  session_ = other_.get();
}

void Connection::on_receive_end(Error error) {
  peer_has_ended_ = true;
  is_receiving_ = false;
  if (error.code() == Errc::OutOfMemory) note_lack_of_memory(resources_, "a connection was closed");
  guarded([&] { receive_end(error); });
}

void Connection::receive_end(Error error) {
  if (error.code() == Errc::PlainHttp && state_ == State::Open) return refuse_plain_http();
  if (error.code() != Errc::None || state_ == State::Lingering) return close();
  if (state_ != State::Open) return;
  if (is_new_) begin_session();
  session_->receive_end();
  settle();
}

// A browser that was told http:// instead of https:// learns what is wrong.
void Connection::refuse_plain_http() {
  count_refusal(resources_, Errc::PlainHttp);
  write_response(output_, Response{Error(Errc::PlainHttp)},
                 {.dated = resources_.dated(), .keep_alive = false});
  state_ = State::Finishing;
  settle();
}

void Connection::on_send_failed(Error) { close(); }

void Connection::on_closed() { owner_.connection_closed(*this); }

Journal* Connection::journal() {
  if (!resources_.options.hooks.on_response) return nullptr;
  if (journal_ == nullptr) journal_ = std::make_unique<Journal>(resources_, *stream_, output_);
  return journal_.get();
}

// RFC 9112 §9.6: close our side first and read on for a while, lest a reset destroy our last
// response.
void Connection::finish() {
  if (peer_has_ended_) {
    if (stream_->is_secure()) stream_->shutdown_write();  // RFC 8446 §6.1: close_notify
    return close();
  }
  state_ = State::Lingering;
  stream_->shutdown_write();
  set_receiving(true);
  timer_.start(resources_.options.timeouts.linger);
}

// Nobody knows whether a peer that has closed its side still reads: docs/decisions/0016.
loop::Instant Connection::end_of_patience() noexcept {
  if (!peer_has_ended_) return loop::Instant::max();
  if (absent_until_ == loop::Instant::max()) {
    absent_until_ = later(resources_.loop.now(), resources_.options.timeouts.half_closed);
  }
  return absent_until_;
}

void Connection::on_deadline(void* self) noexcept {
  auto& connection = *static_cast<Connection*>(self);
  connection.guarded([&] { connection.time_out(); });
}

void Connection::time_out() {
  if (resources_.is_draining && grants_handshake()) {
    return timer_.start(resources_.options.timeouts.handshake);
  }
  if (is_new_ && preface_bytes_ != 0) begin_session();  // what it began to say was a head
  const Waiting waiting = session_->standing(is_sending_).waiting;
  const bool is_absent = peer_has_ended_ && absent_until_ <= resources_.loop.now();
  const bool has_deadline = waiting != Waiting::Request && waiting != Waiting::Handler;
  if (state_ == State::Open && !is_sending_ && !is_absent && has_deadline) {
    session_->time_out();
    return settle();
  }
  if (is_sending_ || is_new_) ++resources_.counters.refused_slow;
  close();
}

}  // namespace skua::server
