// SPDX-License-Identifier: MIT
// In: events of a pump. Out: callbacks of a session, and what it sends.
// The session's callbacks are called in one place, which catches what they throw.
#include "sockets/tcp_client.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "net/log.hpp"

namespace skua::sockets {
namespace {

// For the last bytes of an idle client when the server stops.
constexpr Duration stop_grace = 50ms;
// Little is kept for free, so that the common case touches nothing that threads share.
constexpr std::size_t uncharged_bytes = 4_KiB;
// Receiving goes on for so much during a pause, so that a client that leaves is noticed.
constexpr std::size_t paused_bytes = 16_KiB;

Error too_slow() noexcept { return {Errc::TooSlow, "the client does not take what is sent to it"}; }

}  // namespace

TcpClient::TcpClient(TcpClients& shared, std::unique_ptr<net::Stream> stream)
    : shared_(shared), pump_(*this, shared.loop, shared.blocks) {
  pump_.take(std::move(stream));
}

TcpClient::~TcpClient() { shared_.kept_bytes.fetch_sub(accounted_bytes_); }

void TcpClient::start() {
  restart_idle_timer();
  pump_.guarded([this] {
    call([this] {
      session_ = shared_.make_session(*this);
      return Decision::Keep;
    });
    if (!pump_.is_open()) return;
    pump_.set_receiving(wants_input());
  });
}

/// Calls the session, and does what it decides.
template <class Callback>
void TcpClient::call(const Callback& callback) noexcept {
  const bool was_calling = std::exchange(is_calling_, true);
  Decision decision = Decision::Keep;
  Error failure = Errc::None;
  try {
    decision = callback();
  } catch (const std::bad_alloc&) {
    failure = Error(Errc::OutOfMemory, "callback");
  } catch (const std::exception& error) {
    failure = Error(Errc::Cancelled, "callback");
    log_failure(error.what());
  } catch (...) {
    failure = Error(Errc::Cancelled, "callback");
    log_failure("an exception of an unknown type");
  }
  is_calling_ = was_calling;
  if (failure.code() != Errc::None) return fail(failure);
  if (decision == Decision::Disconnect) leave(Errc::None);
}

void TcpClient::log_failure(std::string_view why) noexcept {
  net::tell(shared_.options.log, LogLevel::Error, {"a callback of a client threw: ", why});
}

// Receiving ---------------------------------------------------------------------------------------

std::string_view TcpClient::input() const noexcept {
  return kept_.empty() ? arriving_ : std::string_view(kept_).substr(consumed_);
}

void TcpClient::consume(std::size_t count) noexcept {
  count = std::min(count, input().size());
  if (kept_.empty()) {
    arriving_.remove_prefix(count);
  } else {
    consumed_ += count;
  }
}

void TcpClient::on_receive(std::span<char> bytes) {
  received_bytes_ += bytes.size();
  note_activity(bytes.size());
  if (is_paused_) {
    kept_.append(bytes.data(), bytes.size());
    has_unseen_ = true;
    account();
    if (pump_.is_open()) pump_.set_receiving(wants_input());
    return;
  }
  if (kept_.empty()) {
    arriving_ = {bytes.data(), bytes.size()};
  } else {
    kept_.append(bytes.data(), bytes.size());
  }
  show_input();
}

void TcpClient::show_input() {
  has_unseen_ = false;
  call([this] { return session_->on_readable(*this); });
  keep_rest();
}

/// Reports whether to receive, as far as pauses matter. Some back ends deliver a little more.
bool TcpClient::wants_input() const noexcept {
  return !is_paused_ || input().size() < paused_bytes;
}

/// Copies what the session has left of the loop's buffer.
void TcpClient::keep_rest() {
  if (!kept_.empty()) {
    // Moves the rest only once the consumed part is the larger one, so that the cost is linear.
    if (consumed_ >= kept_.size() - consumed_) kept_.erase(0, std::exchange(consumed_, 0));
    if (kept_.empty()) kept_ = std::string();  // an idle client owns no buffer
  } else if (!arriving_.empty()) {
    if (pump_.is_open()) kept_ = arriving_;
    arriving_ = {};
  } else {
    return;
  }
  if (input().size() > shared_.options.input_bytes) fail(Error(Errc::MessageTooLong, "input"));
  account();
}

void TcpClient::on_receive_end(Error error) {
  if (error.code() != Errc::None) return fail(error);
  has_end_ = true;
  if (!has_unseen_) show_end();  // otherwise after those, when the pause ends
}

void TcpClient::show_end() {
  has_end_ = false;
  call([this] { return session_->on_end(*this); });
}

void TcpClient::set_paused(bool is_paused) noexcept {
  is_paused_ = is_paused;
  if (pump_.is_open()) pump_.settle_later();
}

// Sending -----------------------------------------------------------------------------------------

void TcpClient::send(std::string_view bytes) {
  if (!pump_.is_open()) return;
  pump_.settle_later();
  if (pump_.output().pressure_bytes() > shared_.options.max_output_bytes) {
    has_dropped_ = true;  // so that many sends in one callback cannot take more memory, either
    return;
  }
  pump_.output().append(bytes);
  has_sent_ = true;
}

void TcpClient::on_sent(std::uint64_t count) {
  sent_bytes_ += count;
  note_activity(count);
}

/// The end of a turn, or of a pending send.
void TcpClient::settle() {
  if (has_dropped_) return fail(too_slow());
  pump_.flush();
  const bool is_all_sent = pump_.output().empty();
  if (!pump_.is_open()) {
    tell_disconnect();
    if (pump_.has_ended()) {
      const Duration linger = shared_.options.linger;
      pump_.linger(is_hurried_ ? std::min(linger, stop_grace) : linger);
    }
    return;
  }
  if (!is_all_sent || accounted_bytes_ != 0) account();
  if (pump_.is_open() && is_all_sent && std::exchange(has_sent_, false) &&
      session_->hears_writable) {
    call([this] { return session_->on_writable(*this); });
    keep_rest();
  }
  if (pump_.is_open() && !is_paused_ && has_unseen_) show_input();
  if (pump_.is_open() && has_end_ && !has_unseen_) show_end();
  if (!pump_.is_open()) return;
  const bool is_full = pump_.output().pressure_bytes() >= shared_.options.output_bytes;
  pump_.set_receiving(wants_input() && !is_full);
}

/// Charges what this client makes us keep, and disconnects it if that is too much.
void TcpClient::account() noexcept {
  const std::size_t unsent = pump_.output().pressure_bytes();
  const std::size_t kept = kept_.size() + unsent;
  if (kept < uncharged_bytes && accounted_bytes_ == 0) return;
  std::atomic<std::size_t>& total = shared_.kept_bytes;
  const std::size_t before = total.fetch_add(kept - accounted_bytes_, std::memory_order_relaxed);
  const bool has_grown = kept > accounted_bytes_;
  const std::size_t sum = before + kept - std::exchange(accounted_bytes_, kept);
  if (!pump_.is_open() || !has_grown) return;
  if (unsent > shared_.options.max_output_bytes) {
    fail(too_slow());
  } else if (sum > shared_.options.server_bytes) {
    fail(Error(Errc::Overloaded, "the clients of the server make it keep too much"));
  }
}

// Time and the end --------------------------------------------------------------------------------

// The timer runs on meanwhile, which is cheaper than to start it anew.
void TcpClient::note_activity(std::uint64_t count) noexcept {
  active_bytes_ += count;
  if (active_bytes_ < shared_.options.idle_bytes) return;
  active_bytes_ = 0;
  active_at_ = shared_.loop.now();
}

void TcpClient::restart_idle_timer() noexcept {
  active_at_ = shared_.loop.now();
  pump_.start_timer(shared_.options.idle);
}

void TcpClient::on_time_out() {
  const Duration left = later(active_at_, shared_.options.idle) - shared_.loop.now();
  if (left > Duration::zero()) return pump_.start_timer(left);
  if (!pump_.is_open()) return fail(Error(Errc::TimedOut, "send"));
  const TcpIdle idle{shared_.options.idle, std::exchange(active_bytes_, 0)};
  why_ = Error(Errc::TimedOut, "idle");
  call([&] { return session_->on_idle(*this, idle); });
  if (!pump_.is_open()) return;
  why_ = Errc::None;
  restart_idle_timer();
}

/// Makes the output final.
void TcpClient::leave(Error why) noexcept {
  if (!pump_.is_open()) return;
  if (why.code() != Errc::None) why_ = why;
  pump_.end();
  pump_.settle_later();
}

// Nobody waits long for a client to which nothing is being sent.
void TcpClient::stop() noexcept {
  is_hurried_ = pump_.has_sent_all();
  leave(Errc::Cancelled);
}

void TcpClient::on_closing() noexcept {
  // Not in the middle of another callback.
  if (!is_calling_) tell_disconnect();
}

void TcpClient::on_closed() {
  tell_disconnect();
  shared_.on_closed(shared_.owner, *this);
}

void TcpClient::fail(Error why) noexcept {
  if (!is_told_) why_ = why;
  pump_.close();
}

void TcpClient::tell_disconnect() noexcept {
  if (std::exchange(is_told_, true) || session_ == nullptr) return;
  call([this] {
    session_->on_disconnect(*this, why_);
    return Decision::Keep;
  });
}

}  // namespace skua::sockets
