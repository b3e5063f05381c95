// SPDX-License-Identifier: MIT
// In: a stream of records. Out: a stream of plain bytes. Every callback of the inner stream ends in
// settle(), which notifies the sink. Events that arise inside a call by the sink wait for that, or
// for the end of the turn.
#include "tls/tls_stream.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "tls/plain_source.hpp"
#include "tls/server_context.hpp"

namespace skua::tls {
namespace {

// Plain bytes that are encrypted before the inner stream must take them: the cost of a slow peer.
constexpr std::size_t burst_bytes = 48_KiB;
constexpr std::size_t sent_now_bytes = 16_KiB;
constexpr std::size_t burst_overhead_bytes = 256;  // headers and tags of its records
// Answers of TLS itself, such as refusals to renegotiate, that may wait for a peer to read.
constexpr std::size_t max_answer_bytes = 64_KiB;

void release(std::string& buffer) noexcept { std::string().swap(buffer); }

}  // namespace

TlsStream::TlsStream(loop::Loop& loop, std::unique_ptr<net::Stream> inner,
                     std::unique_ptr<Engine> engine)
    : loop_(loop),
      inner_(std::move(inner)),
      engine_(std::move(engine)),
      later_(loop::call_member<&TlsStream::on_later>, this) {
  inner_->listen(*this);
}

TlsStream::TlsStream(loop::Loop& loop, std::unique_ptr<net::Stream> inner,
                     std::shared_ptr<const ServerContext> context)
    : TlsStream(loop, std::move(inner), std::unique_ptr<Engine>()) {
  context_ = std::move(context);
}

std::optional<TlsInfo> TlsStream::tls() const {
  if (!is_established()) return std::nullopt;
  PeerCertificate certificate = engine_->peer_certificate();
  return TlsInfo{.version = engine_->version(),
                 .cipher = std::string(engine_->cipher()),
                 .server_name = engine_->server_name(),
                 .client_subject = std::move(certificate.subject),
                 .client_fingerprint = std::move(certificate.fingerprint),
                 .is_client_verified = certificate.is_verified,
                 .is_resumed = engine_->is_resumed()};
}

void TlsStream::start_receive() {
  SKUA_ASSERT(state_ != State::Closing);
  is_receiving_ = true;
  begin();
  if (end_ || !unread_.empty()) loop_.defer(later_);
  set_inner_receiving();
}

void TlsStream::stop_receive() {
  is_receiving_ = false;
  set_inner_receiving();
}

std::size_t TlsStream::send(std::span<const net::Slice> slices) {
  if (state_ == State::Plain) return inner_->send(slices);
  SliceSource source(slices);
  return send_from(source);
}

// Bytes count as taken once they are encrypted, though the last records may have to wait here.
net::Sent TlsStream::try_send(std::span<const net::Slice> slices) {
  if (state_ == State::Plain) return inner_->try_send(slices);
  const bool can_send =
      state_ == State::Open && !is_sending_ && !is_inner_sending_ && !wants_write_end_ && !broken_;
  if (!can_send) return {};
  SliceSource source(slices);
  net::Sent sent;
  try {
    while (source.left_bytes() > 0 && !is_sending_ && !send_failure_) {
      sent.bytes += encrypt(source);
      is_sending_ = !flush();
    }
  } catch (const std::bad_alloc&) {
    if (sent.bytes == 0) throw;  // otherwise the peer has a part, and the rest is not taken
  }
  if (send_failure_ && !is_sending_) {
    is_sending_ = true;
    loop_.defer(later_);
  }
  sent.is_pending = is_sending_;
  return sent;
}

std::size_t TlsStream::send_file(int file, std::uint64_t offset, std::size_t size_bytes) {
  if (state_ == State::Plain) return inner_->send_file(file, offset, size_bytes);
  FileSource source(file, offset, size_bytes);
  return send_from(source);
}

void TlsStream::shutdown_write() {
  SKUA_ASSERT(state_ != State::Closing && !is_sending_);
  wants_write_end_ = true;
  if (state_ == State::Open) engine_->close_notify();
  finish_writing();
}

void TlsStream::close() {
  state_ = State::Closing;
  later_.cancel();
  inner_->close();
}

// Starts the handshake; a client speaks first.
void TlsStream::begin() {
  if (state_ != State::Idle) return;
  state_ = State::Handshaking;
  if (engine_ != nullptr) continue_handshake();
  if (state_ == State::Failed) loop_.defer(later_);
  set_inner_receiving();
}

void TlsStream::continue_handshake() {
  switch (engine_->handshake()) {
    case Engine::Step::WantsInput: flush(); return;
    case Engine::Step::Ended: return fail({Errc::TlsHandshakeFailed, "the peer closed"});
    case Engine::Step::Failed: return fail(engine_->error());
    case Engine::Step::Done: break;
  }
  state_ = State::Open;
  if (wants_write_end_) engine_->close_notify();
  flush();
  sink().on_established();
}

void TlsStream::decrypt() {
  std::array<char, Engine::record_bytes> plain;
  while (state_ == State::Open && is_receiving_ && !is_peer_done_) {
    const Engine::Read read = engine_->read(plain);
    switch (read.step) {
      case Engine::Step::Done: sink().on_receive(std::span(plain).first(read.count_bytes)); break;
      case Engine::Step::WantsInput: return;
      case Engine::Step::Failed: return fail(engine_->error());
      case Engine::Step::Ended:
        is_peer_done_ = true;
        end_ = Error(Errc::None);
        return;
    }
  }
}

// Nothing else is encrypted while the inner stream sends.
bool TlsStream::ignores_answers() const noexcept {
  return is_inner_sending_ && engine_ != nullptr && engine_->output().size() > max_answer_bytes;
}

/// Uses the peer's bytes as far as they are wanted; returns the rest.
std::span<const char> TlsStream::use(std::span<const char> bytes) {
  is_using_ = true;
  engine_->feed(bytes);
  if (state_ == State::Handshaking) continue_handshake();
  if (state_ == State::Open) decrypt();
  if (state_ == State::Open && ignores_answers()) {
    fail({Errc::TlsFailed, "the peer does not read"});
  }
  is_using_ = false;
  const std::span<const char> unused = engine_->unused();
  engine_->feed({});
  // After close_notify or a failure the rest is dropped.
  return state_ == State::Open && !is_peer_done_ ? unused : std::span<const char>();
}

void TlsStream::use_unread() {
  if (unread_.empty() || !is_receiving_) return;
  const std::span<const char> unused = use(std::span(unread_).subspan(unread_used_));
  unread_used_ = unread_.size() - unused.size();
  if (unused.empty()) {
    release(unread_);
    unread_used_ = 0;
  }
}

// Runs a callback of the inner stream; the sink is told if memory runs out.
template <class Work>
void TlsStream::guarded(Work&& work) noexcept {
  try {
    std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    is_using_ = false;
    if (engine_ != nullptr) engine_->feed({});
    if (state_ != State::Closing) fail({Errc::OutOfMemory, "TLS"});
  }
  settle();
}

void TlsStream::on_receive(std::span<char> bytes) {
  guarded([&] { receive(bytes); });
}

void TlsStream::receive(std::span<char> bytes) {
  if (is_peer_done_ || (state_ != State::Handshaking && state_ != State::Open)) return;
  has_heard_ = true;
  if (engine_ == nullptr) engine_ = std::exchange(context_, nullptr)->accept();
  if (unread_.empty()) {
    const std::span<const char> unused = use(bytes);
    unread_.assign(unused.begin(), unused.end());
  } else {
    unread_.erase(0, std::exchange(unread_used_, 0));
    unread_.append(bytes.data(), bytes.size());
    use_unread();
  }
}

void TlsStream::on_receive_end(Error error) {
  is_inner_receiving_ = false;
  has_inner_ended_ = true;
  const bool is_orderly = error.code() == Errc::None;
  if (state_ == State::Handshaking) {
    fail(is_orderly ? Error(Errc::TlsHandshakeFailed, "the peer closed") : error);
  } else if (state_ == State::Open && !is_peer_done_) {
    // RFC 8446 §6.1: only close_notify proves that nothing was cut off.
    end_ = is_orderly ? Error(Errc::TlsTruncated, "TLS") : error;
  }
  settle();
}

void TlsStream::on_sent(std::size_t count) {
  if (state_ == State::Plain) return sink().on_sent(count);
  is_inner_sending_ = false;
  flown_bytes_ += count;
  settle();
}

void TlsStream::on_send_failed(Error error) {
  if (state_ == State::Plain) return sink().on_send_failed(error);
  is_inner_sending_ = false;
  broken_ = error;
  if (is_sending_) send_failure_ = error;
  if (state_ == State::Handshaking) fail(error);
  settle();
}

void TlsStream::on_closed() { tell_closed(); }

void TlsStream::on_later() {
  guarded([this] {
    if (state_ == State::Open) use_unread();
  });
}

void TlsStream::fail(Error error) {
  state_ = error.code() == Errc::PlainHttp ? State::Plain : State::Failed;
  end_ = error;
  if (is_sending_ && !send_failure_) send_failure_ = error;
  release(unread_);
  unread_used_ = 0;
  // Our side ends with the alert. A client without TLS gets its response from the sink.
  if (state_ == State::Failed) wants_write_end_ = true;
}

// Each call to the sink may close this stream.
void TlsStream::settle() {
  if (state_ == State::Closing) return;
  finish_writing();
  tell_sent();
  if (state_ != State::Closing) tell_end();
  if (state_ != State::Closing) set_inner_receiving();
}

void TlsStream::tell_sent() {
  if (!is_sending_ || state_ == State::Handshaking) return;
  if (send_failure_) {
    is_sending_ = false;
    pending_bytes_ = 0;
    const Error error = *send_failure_;
    send_failure_.reset();
    sink().on_send_failed(error);
  } else if (!is_inner_sending_) {
    is_sending_ = false;
    sink().on_sent(std::exchange(pending_bytes_, 0));
  }
}

void TlsStream::tell_end() {
  if (!end_ || !is_receiving_ || !unread_.empty()) return;
  // The alert goes first, if the peer is there for it.
  if (state_ == State::Failed && is_inner_sending_ && !ignores_answers()) return;
  is_receiving_ = false;
  const Error error = *end_;
  end_.reset();
  sink().on_receive_end(error);
}

void TlsStream::set_inner_receiving() {
  if (is_using_ || has_inner_ended_ || state_ == State::Closing) return;
  const bool wanted = state_ == State::Handshaking ||
                      (state_ == State::Open && is_receiving_ && !is_peer_done_ && unread_.empty());
  if (wanted == is_inner_receiving_) return;
  is_inner_receiving_ = wanted;
  if (wanted) {
    inner_->start_receive();
  } else {
    inner_->stop_receive();
  }
}

std::size_t TlsStream::send_from(PlainSource& source) {
  SKUA_ASSERT(state_ != State::Closing && !is_sending_);
  begin();
  std::size_t taken = 0;
  while (source.left_bytes() > 0) {
    const bool is_dead = state_ == State::Failed || wants_write_end_ || broken_;
    if (is_dead) send_failure_ = broken_.value_or(Error(Errc::Closed, "TLS"));
    if (!is_dead && (state_ == State::Handshaking || is_inner_sending_)) {
      is_sending_ = true;  // on_sent(0) follows: send again
      return taken;
    }
    const std::size_t count = is_dead ? 0 : encrypt(source);
    const bool is_out = flush();
    if (is_out && !send_failure_) {
      taken += count;
      continue;
    }
    is_sending_ = true;
    pending_bytes_ = count;
    if (send_failure_) loop_.defer(later_);
    return taken;
  }
  return taken;
}

/// Encrypts at most one burst; returns the number of plain bytes taken.
std::size_t TlsStream::encrypt(PlainSource& source) {
  std::array<char, Engine::record_bytes> scratch;
  engine_->output().reserve(std::min(source.left_bytes(), burst_bytes) + burst_overhead_bytes);
  std::size_t count = 0;
  bool goes_on = source.left_bytes() > 0;
  while (goes_on) {
    const auto piece = source.next(scratch, burst_bytes - count);
    if (!piece) {
      send_failure_ = piece.error();
      break;
    }
    if (piece->empty()) break;
    count += piece->size();
    // Less than a record is left to the next burst.
    goes_on = source.left_bytes() > 0 && count <= burst_bytes - Engine::record_bytes;
    if (!engine_->write(*piece, goes_on)) {
      send_failure_ = engine_->error();
      break;
    }
  }
  return count;
}

/// Sends pending records; returns whether none are left.
bool TlsStream::flush() {
  if (engine_ == nullptr) return true;
  if (is_write_ended_ || broken_) {
    release(flight_);
    release(engine_->output());
    flown_bytes_ = 0;
  }
  while (!is_inner_sending_) {
    if (flown_bytes_ == flight_.size()) {
      flight_.clear();
      flown_bytes_ = 0;
      std::swap(flight_, engine_->output());
    }
    if (flight_.empty()) {
      release(flight_);
      release(engine_->output());
      return true;
    }
    net::Slice rest{flight_.data() + flown_bytes_, flight_.size() - flown_bytes_};
    // Large records are sent while the processor's caches have them, and their memory goes to the
    // next stream; a back end that sends at the end of the turn would hold those of all streams.
    if (rest.size_bytes >= sent_now_bytes) {
      const net::Sent sent = inner_->try_send({&rest, 1});
      flown_bytes_ += static_cast<std::size_t>(sent.bytes);
      is_inner_sending_ = sent.is_pending;
      rest = {rest.data + sent.bytes, rest.size_bytes - static_cast<std::size_t>(sent.bytes)};
      if (rest.size_bytes == 0 || is_inner_sending_) continue;
    }
    const std::size_t taken = inner_->send({&rest, 1});
    flown_bytes_ += taken;
    is_inner_sending_ = taken < rest.size_bytes;
  }
  return false;
}

void TlsStream::finish_writing() {
  if (!flush() || !wants_write_end_ || is_write_ended_ || state_ == State::Handshaking) return;
  is_write_ended_ = true;
  if (!broken_) inner_->shutdown_write();
}

}  // namespace skua::tls
