// SPDX-License-Identifier: MIT
// The streams of a connection, from the first HEADERS until both sides and the consumer are done
// with them. What a consumer does never tells it anything from inside: streams that ended wait in a
// list until receive() or write() looks at it.
#include <algorithm>
#include <utility>

#include "h2/connection.hpp"

namespace skua::h2 {
namespace {

/// Those that we have reset stay where the peer takes our word for it and says nothing more.
constexpr std::size_t most_reset_ids = 1024;
constexpr std::size_t begun_bits = 64;

constexpr bool is_of_client(std::uint32_t id) noexcept { return id % 2 == 1; }

}  // namespace

void Stream::open(std::uint32_t id) noexcept {
  id_ = id;
  context = nullptr;
  length_bytes_.reset();
  framed_bytes_ = 0;
  consumed_bytes_ = interim_bytes_ = 0;
  closed_with_ = ErrorCode::NoError;
  reset_for_ = Errc::None;
  interim_count_ = 0;
  state_ = State::Open;
  content_ = Content::None;
  priority_ = {};
  has_received_all_ = has_response_ = has_begun_ = false;
  is_told_ = is_close_told_ = is_released_ = false;
  is_tunnel_ = is_head_request_ = false;
}

void Stream::let_go() noexcept {
  unlink();
  section_.reset();
  head_.shrink();
}

std::size_t Connection::place_of(std::uint32_t id) const noexcept {
  const auto found =
      std::ranges::lower_bound(streams_, id, {}, [](const Stream* stream) { return stream->id_; });
  return static_cast<std::size_t>(found - streams_.begin());
}

Stream* Connection::find_open(std::uint32_t id) const noexcept {
  if (streams_.empty() || id > streams_.back()->id_) return nullptr;
  Stream* stream = streams_.back();  // that most frames are for
  if (stream->id_ != id) stream = streams_[place_of(id)];
  return stream->id_ != id || stream->is_closed() ? nullptr : stream;
}

/// Ids only grow, so that the last is the highest.
Stream& Connection::open_stream(std::uint32_t id) {
  streams_.reserve(streams_.size() + 1);
  streams_.push_back(workspace_.streams.take().release());
  Stream& stream = *streams_.back();
  stream.open(id);
  stream.send_window_ = first_send_window_;
  stream.receive_window_ = first_receive_window_;
  ++open_count_;
  return stream;
}

/// Whether it was never begun, and cannot be said to have been skipped.
bool Connection::is_idle(std::uint32_t id) const noexcept {
  return !is_of_client(id) || id > highest_id_;
}

/// True also for what is too long ago to know.
bool Connection::was_begun(std::uint32_t id) const noexcept {
  const std::uint32_t ago = (highest_id_ - id) / 2;
  return ago >= begun_bits || (begun_ >> ago & 1U) != 0;
}

bool Connection::was_reset_by_us(std::uint32_t id) const noexcept {
  return std::ranges::find(reset_ids_, id) != reset_ids_.end();
}

void Connection::remember_reset(std::uint32_t id) {
  if (reset_ids_.size() == most_reset_ids) reset_ids_.erase(reset_ids_.begin());
  reset_ids_.push_back(id);
}

void Connection::forget_reset(std::uint32_t id) noexcept {
  const auto found = std::ranges::find(reset_ids_, id);
  if (found != reset_ids_.end()) reset_ids_.erase(found);
}

void Connection::reset_stream(Stream& stream, ErrorCode code) {
  if (stream.is_closed()) return;
  if (!stream.is_peer_done()) remember_reset(stream.id_);
  write_reset(stream.id_, code);
  close_stream(stream, code);
}

/// For what the peer did.
void Connection::punish(Stream& stream, ErrorCode code, Error error) {
  charge(Abuse::ProvokedReset);
  reset_stream(stream, code);
  if (!is_server()) fail(stream, {.error = error});
}

void Connection::close_stream(Stream& stream, ErrorCode code) noexcept {
  leave_ready(stream, Stream::Content::None);
  stream.unlink();
  stream.state_ = Stream::State::Closed;
  stream.closed_with_ = code;
  --open_count_;
  due_.push_back(stream);
}

void Connection::fail(Stream& stream, StreamFailure failure) {
  if (stream.is_released_ || stream.has_received_all_) return;
  stream.is_released_ = true;
  if (stream.is_closed() && !stream.is_linked()) due_.push_back(stream);
  failure.has_begun = stream.has_begun_;
  events_.on_failure(stream, failure);
}

/// Consumers may end other streams meanwhile: those are next.
void Connection::tell_due() {
  while (!due_.empty()) {
    Stream& stream = due_.front();
    stream.unlink();
    if (!stream.is_closed()) {
      end_sending(stream);
    } else if (stream.is_released_ || !stream.is_told_) {
      recycle(stream);
    } else if (!is_server()) {
      if (stream.has_received_all_) continue;  // until it is released
      fail(stream, {.error = Error(stream.reset_for_, "request")});
      recycle(stream);
    } else if (!std::exchange(stream.is_close_told_, true)) {
      events_.on_closed(stream, stream.closed_with_);
    }
  }
}

void Connection::recycle(Stream& stream) noexcept {
  const bool is_first = streams_.front() == &stream;
  const std::size_t place = is_first ? 0 : place_of(stream.id_);
  streams_.erase(streams_.begin() + static_cast<std::ptrdiff_t>(place));
  stream.let_go();
  workspace_.streams.give_back(std::unique_ptr<Stream>(&stream));
  if (!is_server()) events_.on_room();
}

void Connection::reset(Stream& stream, ErrorCode code) {
  if (takes_input()) reset_stream(stream, code);
}

void Connection::release(Stream& stream) noexcept {
  SKUA_ASSERT(!stream.is_released_);
  stream.is_released_ = true;
  if (!stream.is_closed()) {
    try {
      reset_stream(stream, ErrorCode::Cancel);
    } catch (...) {
      break_off();
    }
  } else if (!stream.is_linked()) {
    due_.push_back(stream);
  }
}

}  // namespace skua::h2
