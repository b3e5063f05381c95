// SPDX-License-Identifier: MIT
// Between a stream and a session. Every event ends in settle(): send what was written, once; then
// decide whether to read on, to linger or to close, and how long to wait for the peer.
#include "server/connection.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/later.hpp"
#include "h2/preface.hpp"
#include "server/h1_writer.hpp"
#include "server/h2_session.hpp"
#include "server/journal.hpp"
#include "skua/method.hpp"

namespace skua::server {
namespace {

constexpr int rounds_per_turn = 16;

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

// Whatever the system or the clock tells a connection comes through here, so that a failed
// allocation ends at the connection that it was for: docs/decisions/0020.
template <class Work>
void Connection::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    note_lack_of_memory(resources_, "a connection was closed");
    close();
  }
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

void Connection::on_receive(std::span<char> bytes) {
  resources_.counters.bytes_received += bytes.size();
  if (state_ != State::Open) return;  // thrown away
  guarded([&] { receive(bytes); });
}

void Connection::receive(std::span<char> bytes) {
  if (is_new_ && !choose_session({bytes.data(), bytes.size()})) return;
  session_->receive(bytes);
  settle_later();
}

void Connection::replace_session(std::unique_ptr<Session> next) noexcept {
  other_ = std::move(next);
  session_ = other_.get();
}

// The peer speaks what was agreed on with TLS, or what its first bytes say. False while they may
// become either.
bool Connection::choose_session(std::string_view input) {
  if (resources_.options.http2 && h2::is_available()) {
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

void Connection::on_sent(std::size_t count) {
  is_sending_ = false;
  output_.consume(count);
  note_sent(count);
  guarded([this] { settle(); });
}

void Connection::on_send_failed(Error) { close(); }

void Connection::on_closed() { owner_.connection_closed(*this); }

void Connection::settle() {
  settle_later_.cancel();  // this is it
  // What the session asked for with its last words: a lingering connection is not open any more.
  if (state_ == State::Lingering) return;
  flush();
  Standing now = session_->standing(is_sending_);
  for (int round = 0; state_ == State::Open && now.can_resume; ++round) {
    if (round == rounds_per_turn) {
      settle_later();  // others have their turn first
      break;
    }
    session_->resume();
    if (peer_has_ended_) session_->receive_end();
    flush();
    now = session_->standing(is_sending_);
  }
  if (now.has_work) session_->output_drained();
  const bool is_last = now.is_finished || (peer_has_ended_ && !now.has_work);
  if (state_ == State::Open && is_last) state_ = State::Finishing;
  if (state_ == State::Finishing && output_.empty()) return finish();
  set_receiving(state_ == State::Open && now.wants_input && !peer_has_ended_);
  start_timer(now);
}

void Connection::flush() {
  if (is_sending_) return;
  const net::Sent sent = net::send_queued(output_, *stream_);
  is_sending_ = sent.is_pending;
  note_sent(sent.bytes);
}

std::size_t Connection::send_now(std::span<const net::Slice> slices) {
  if (!output_.empty() || is_sending_ || state_ != State::Open) return 0;
  const std::size_t count = stream_->try_send(slices);
  resources_.counters.bytes_sent += count;
  return count;
}

Journal* Connection::journal() {
  if (!resources_.options.hooks.on_response) return nullptr;
  if (journal_ == nullptr) journal_ = std::make_unique<Journal>(resources_, *stream_, output_);
  return journal_.get();
}

void Connection::note_sent(std::uint64_t count) {
  if (count == 0) return;
  if (journal_ != nullptr) journal_->sent(count);
  is_write_timed_ = false;  // the peer took something
  absent_until_ = loop::Instant::max();
  resources_.counters.bytes_sent += count;
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

void Connection::set_receiving(bool wanted) {
  if (wanted == is_receiving_) return;
  is_receiving_ = wanted;
  if (wanted)
    stream_->start_receive();
  else
    stream_->stop_receive();
}

void Connection::start_timer(const Standing& now) {
  const Timeouts& timeouts = resources_.options.timeouts;
  if (is_sending_) {
    if (!is_write_timed_) timer_.start(timeouts.write);
    is_write_timed_ = true;
    return;
  }
  if (is_new_ && !resources_.is_draining) return;                   // it runs since the start
  if (is_handshake_granted_ && !stream_->is_established()) return;  // as does this one
  if (now.waiting == Waiting::Request) {
    return timer_.start(resources_.is_draining ? timeouts.drain_grace : resources_.idle_time());
  }
  loop::Instant end = end_of_patience();
  if (now.waiting != Waiting::Handler) end = std::min(end, session_->deadline());
  if (end == loop::Instant::max()) return timer_.stop();
  timer_.start(end - resources_.loop.now());
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

void Connection::on_turn_end(void* self) noexcept {
  auto& connection = *static_cast<Connection*>(self);
  connection.guarded([&] { connection.settle(); });
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
