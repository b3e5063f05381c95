// SPDX-License-Identifier: MIT
// Buffers received content until it is read, up to a limit at which the protocol has to wait. The
// protocol's calls never resume readers directly; the loop does so at the end of its turn.
#include "server/incoming_body.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/message/field.hpp"
#include "loop/clock.hpp"

namespace skua::server {
namespace {

constexpr http::Head no_fields{};
constexpr RequestLimits no_limits{};

}  // namespace

void IncomingBody::expect(BodySender& sender, const Expected& expected) noexcept {
  sender_ = &sender;
  expected_ = expected;
  state_ = State::Arriving;
  reader_ = Reader::Takes;
  const RequestLimits& own = expected.limits != nullptr ? *expected.limits : no_limits;
  max_kept_bytes_ = own.body_bytes.value_or(options_.limits.body_bytes);
  bytes_per_second_ = own.body_bytes_per_second.value_or(options_.limits.body_bytes_per_second);
  gap_ = own.body_timeout.value_or(options_.timeouts.body);
  began_ = loop_.now();
  deadline_ = later(began_, gap_);
  owes_continue_ = expected.peer_waits;
  update_pause();
}

Errc IncomingBody::received(std::size_t size_bytes) noexcept {
  received_bytes_ += size_bytes;
  if (received_bytes_ > expected_.max_bytes) return Errc::BodyTooLong;
  owes_continue_ = false;  // the peer did not wait for it
  update_pause();
  if (!is_paused_ && is_too_slow()) return Errc::TooSlow;
  deadline_ = later(loop_.now(), gap_);
  return Errc::None;
}

// See Timeouts::body_grace.
bool IncomingBody::is_too_slow() const noexcept {
  const Duration spent = loop_.now() - began_;
  if (spent < options_.timeouts.body_grace) return false;
  const auto seconds =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(spent).count());
  return received_bytes_ < seconds * bytes_per_second_;
}

Errc IncomingBody::append(std::string_view data) {
  if (reader_ == Reader::Drops || data.empty()) return Errc::None;
  if (reader_ == Reader::Loads) {
    if (const Errc error = loaded_.append(data); error != Errc::None) return error;
    sender_->body_taken(data.size());
    return Errc::None;
  }
  if (!readers_.empty() && pass_on(data)) return Errc::None;
  spares_.append(unread_, data);
  readers_.wake_all();
  return Errc::None;
}

void IncomingBody::pass_to(const std::weak_ptr<detail::ContentTaker>& taker) noexcept {
  taker_ = taker;
}

// A reader that waits has been given everything before.
bool IncomingBody::pass_on(std::string_view data) {
  using Taken = detail::ContentTaker::Taken;
  const std::shared_ptr<detail::ContentTaker> taker = taker_.lock();
  const Taken taken = taker != nullptr ? taker->take(data) : Taken::Nothing;
  if (taken == Taken::Nothing) return false;
  taken_bytes_ += data.size();
  if (taken == Taken::All) {
    sender_->body_taken(data.size());
    return true;
  }
  owed_bytes_ = data.size();
  is_full_told_ = true;
  readers_.wake_all();
  return true;
}

void IncomingBody::make_room() {
  if (owed_bytes_ != 0) sender_->body_taken(std::exchange(owed_bytes_, 0));
}

void IncomingBody::end(const http::Head& trailers) noexcept {
  trailers_ = &trailers;
  state_ = State::Whole;
  readers_.wake_all();
}

bool IncomingBody::has_room() const noexcept {
  if (owed_bytes_ != 0) return false;
  // There is always room for one piece: a limit of zero must not block a reader forever.
  return unread_.empty() || unread_.size() < options_.limits.stream_bytes;
}

bool IncomingBody::take_continue() noexcept {
  if (is_declined_) return false;
  const bool owed = std::exchange(owes_continue_, false);
  update_pause();
  return owed;
}

void IncomingBody::allow_pauses(Duration longest) noexcept {
  const RequestLimits& own = expected_.limits != nullptr ? *expected_.limits : no_limits;
  if (!own.body_timeout) gap_ = longest;
  if (!own.body_bytes_per_second) bytes_per_second_ = 0;
  deadline_ = later(loop_.now(), gap_);
}

void IncomingBody::hold_back(bool is_held_back) noexcept {
  is_held_back_ = is_held_back;
  update_pause();
}

void IncomingBody::update_pause() noexcept {
  const bool is_paused = is_held_back_ || owes_continue_;
  if (is_paused == std::exchange(is_paused_, is_paused)) return;
  const loop::Instant now = loop_.now();
  if (is_paused) {
    paused_ = now;
  } else {
    began_ += now - paused_;
    deadline_ = later(now, gap_);
  }
}

void IncomingBody::drop() noexcept {
  reader_ = Reader::Drops;
  owed_bytes_ = 0;
  spares_.give(unread_);
}

void IncomingBody::release() noexcept { budget_.give_back(std::exchange(kept_bytes_, 0)); }

void IncomingBody::clear() noexcept {
  release();
  loaded_.clear();
  spares_.give(unread_);
  spares_.give(handed_);
  trailers_ = nullptr;
  expected_ = {};
  taker_.reset();
  received_bytes_ = taken_bytes_ = 0;
  owed_bytes_ = 0;
  state_ = State::None;
  owes_continue_ = is_held_back_ = is_paused_ = is_declined_ = is_full_told_ = false;
}

std::optional<Bytes> IncomingBody::take() {
  spares_.give(handed_);
  if (std::exchange(is_full_told_, false)) return Bytes();
  make_room();
  if (unread_.empty()) return std::nullopt;
  std::swap(handed_, unread_);
  taken_bytes_ += handed_.size();
  sender_->body_taken(handed_.size());
  return bytes(handed_);
}

void IncomingBody::wait(detail::Waiter& waiter, std::coroutine_handle<> reader) {
  readers_.park(waiter, reader);
  make_room();
  if (owes_continue_) sender_->body_wanted();
}

const http::Head& IncomingBody::trailers() const noexcept {
  return trailers_ == nullptr ? no_fields : *trailers_;
}

std::size_t IncomingBody::max_kept_bytes() const noexcept { return max_kept_bytes_; }

std::optional<std::uint64_t> IncomingBody::left_bytes() const noexcept {
  const std::optional<std::uint64_t> all = expected_.length_bytes;
  return all ? std::optional(*all - std::min(*all, taken_bytes_)) : std::nullopt;
}

bool IncomingBody::keep(std::size_t bytes) noexcept {
  if (!budget_.take(bytes, kept_bytes_ + bytes)) return false;
  kept_bytes_ += bytes;
  return true;
}

}  // namespace skua::server
