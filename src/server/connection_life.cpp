// SPDX-License-Identifier: MIT
// The one-time events of a connection: start, protocol detection, timeout and close.
#include <string>
#include <utility>

#include "h2/frame.hpp"
#include "loop/clock.hpp"
#include "server/connection.hpp"
#include "server/h1/writer.hpp"
#include "server/h2/protocol.hpp"
#include "server/proxies/support.hpp"
#include "skua/method.hpp"

namespace skua::server {
namespace {

// Reports whether the first line is not HTTP: three words with neither a known method nor a version
// with a slash. Such a peer could not read a response. RFC 9113 §3.4
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

Connection::Connection(Resources& resources, std::unique_ptr<net::Stream> stream)
    : H1Protocol(resources, static_cast<net::StreamPumpUser&>(*this)) {
  pump_.take(std::move(stream));
}

void Connection::start() {
  pump_.guarded([this] { pump_.set_receiving(true); });
  if (!pump_.is_open()) return;
  // A silent peer gets as much time as one that sends its head slowly.
  const Timeouts& timeouts = resources_.options.timeouts;
  const bool is_established = pump_.stream().is_established();
  if (counts_handshakes() && !is_established) ++resources_.counters.handshakes_begun;
  pump_.start_timer(is_established ? timeouts.head : timeouts.handshake);
}

void Connection::drain() {
  static_cast<void>(grants_handshake());
  pump_.guarded([this] { with_protocol([](auto& protocol) { protocol.drain(); }); });
  pump_.settle_later();
}

void Connection::on_out_of_memory() noexcept {
  note_out_of_memory(resources_, "a connection was closed");
  close(ResponseEnd::Failed);
}

void Connection::close(ResponseEnd why) noexcept {
  if (Accounting* const accounting = begun_accounting()) accounting->will_end(why);
  pump_.close();
}

void Connection::on_closing() noexcept {
  with_protocol([](auto& protocol) { protocol.cancel(); });
  if (Accounting* const accounting = begun_accounting()) accounting->end();
  if (counts_handshakes() && !pump_.stream().is_established())
    ++resources_.counters.handshakes_failed;
  const auto& tell = resources_.options.hooks.on_connection_close;
  const bool was_open = resources_.header_reader == nullptr || pump_.stream().is_established();
  if (tell && was_open) tell();
}

// A drain lets a handshake in progress finish, and answers the request that follows it; a silent
// peer only gets the grace period.
bool Connection::grants_handshake() noexcept {
  if (!pump_.stream().is_handshaking() || is_handshake_granted_) return false;
  is_handshake_granted_ = true;
  return true;
}

void Connection::on_established() {
  if (counts_handshakes()) {
    ++resources_.counters.handshakes;
    if (pump_.stream().is_resumed()) ++resources_.counters.handshakes_resumed;
  }
  if (resources_.header_reader != nullptr) resources_.header_reader->tell_open(pump_.stream());
  const Timeouts& timeouts = resources_.options.timeouts;
  // The first request follows its handshake, even if that ended during a drain.
  if (resources_.is_draining) is_handshake_granted_ = true;
  pump_.start_timer(resources_.is_draining ? timeouts.linger : timeouts.head);
}

// Chooses the protocol negotiated by TLS (ALPN), or else the one that the first bytes indicate.
// Returns false while they are ambiguous.
bool Connection::choose_protocol(std::string_view input) {
  if (resources_.options.http2) {
    const std::string_view rest = h2::client_preface.substr(preface_bytes_);
    const net::Stream& stream = pump_.stream();
    const bool is_plain = !stream.is_secure();
    if (is_plain && input.size() < rest.size() && rest.starts_with(input)) {
      preface_bytes_ += static_cast<std::uint8_t>(input.size());
      return false;
    }
    if (is_plain && preface_bytes_ == 0 && is_foreign(input)) {
      close(ResponseEnd::Failed);
      return false;
    }
    if (stream.protocol() == "h2" || (is_plain && input.starts_with(rest))) {
      successor_ = std::make_unique<H2Protocol>(resources_, stream, pump_.output(),
                                                static_cast<ProtocolOwner&>(*this));
    }
  }
  begin_protocol();
  return true;
}

void Connection::begin_protocol() {
  is_new_ = false;
  if (preface_bytes_ == 0) return;
  std::string began(h2::client_preface.substr(0, preface_bytes_));
  with_protocol([&](auto& protocol) { protocol.receive(began); });
}

void Connection::on_receive_end(Error error) {
  if (error.code() == Errc::PlainHttp) return refuse_plain_http();
  if (error.code() == Errc::OutOfMemory) return on_out_of_memory();
  if (error.code() != Errc::None) return close(ResponseEnd::PeerLeft);
  if (is_new_) begin_protocol();
  receive_end();
}

void Connection::receive_end() {
  with_protocol([](auto& protocol) { protocol.receive_end(); });
}

loop::Instant Connection::deadline() noexcept {
  return with_protocol([](auto& protocol) { return protocol.deadline(); });
}

// Tells a browser that used http:// instead of https:// what is wrong.
void Connection::refuse_plain_http() {
  count_refusal(resources_, Errc::PlainHttp);
  write_response(pump_.output(), Response{Error(Errc::PlainHttp)},
                 {.dated = resources_.dated(), .keep_alive = false});
  pump_.end();
}

Accounting* Connection::accounting() {
  if (!resources_.records_responses) return nullptr;
  std::optional<Accounting>& own = extras().accounting;
  if (!own)
    own.emplace(resources_, static_cast<detail::ConnectionSource&>(*this), pump_.stream(),
                pump_.output());
  return &*own;
}

Connection::Extras& Connection::extras() {
  if (extras_ == nullptr) extras_ = std::make_unique<Extras>();
  return *extras_;
}

skua::Connection& Connection::connection() {
  std::unique_ptr<skua::Connection>& known = extras().known;
  if (known == nullptr) {
    const net::Stream& stream = pump_.stream();
    known = std::make_unique<skua::Connection>(skua::Connection::Facts{
        ++resources_.connection_ids, stream.peer(), stream.local(), stream.tls()});
  }
  return *known;
}

// A peer that has closed its side may or may not still read: docs/decisions/0016.
loop::Instant Connection::end_of_absence() noexcept {
  const loop::Instant now = resources_.loop.now();
  const auto now_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count());
  if (!is_absence_timed_) absent_since_ = now_ms;
  is_absence_timed_ = true;
  const std::chrono::milliseconds elapsed(now_ms - absent_since_);
  return later(now, resources_.options.timeouts.half_closed - elapsed);
}

void Connection::on_time_out() {
  if (resources_.is_draining && grants_handshake()) {
    return pump_.start_timer(resources_.options.timeouts.handshake);
  }
  // A partial preface counts as a head, whose time began with the connection.
  const bool is_head_late = is_new_ && preface_bytes_ != 0;
  if (is_head_late) begin_protocol();
  const loop::Instant now = resources_.loop.now();
  const std::optional<Duration> left = pump_.left_to_send(resources_.options.timeouts.write);
  const bool takes_nothing = left && *left <= Duration(0);
  const bool is_absent = is_absence_timed_ && end_of_patience() <= now;
  const Waiting waiting =
      with_protocol([this](auto& protocol) { return protocol.state(pump_.is_sending()).waiting; });
  const bool has_deadline =
      waiting != Waiting::Request && waiting != Waiting::Handler && !is_late_for_drain(waiting);
  if (pump_.is_open() && !takes_nothing && !is_absent && has_deadline) {
    if (!is_head_late && deadline() > now) return;
    return with_protocol([](auto& protocol) { protocol.time_out(); });
  }
  if (left && !takes_nothing && !is_absent) return;
  if (left || is_new_) ++resources_.counters.refused_slow;
  close(is_absent ? ResponseEnd::PeerLeft : ResponseEnd::TimedOut);
}

}  // namespace skua::server
