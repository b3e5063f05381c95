// SPDX-License-Identifier: MIT
// The streams of a connection, from the first HEADERS until both sides and the consumer are done
// with them, and the end of the connection. What a consumer does never tells it anything from
// inside: streams that ended wait in a list until receive() or write() looks at it.
#include "h2/connection.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "h2/preface.hpp"

namespace skua::h2 {
namespace {

/// Those that we have reset stay where the peer takes our word for it and says nothing more.
constexpr std::size_t most_reset_ids = 1024;
constexpr std::size_t begun_bits = 64;

/// RFC 9113 §6.9.2: until the server says how many.
constexpr std::uint32_t first_client_streams = 100;

constexpr bool is_of_client(std::uint32_t id) noexcept { return id % 2 == 1; }

}  // namespace

void Events::on_request(Stream&, bool) {}
void Events::on_answered_early(Stream&) {}
void Events::on_closed(Stream&, ErrorCode) {}
void Events::on_response(Stream&, std::unique_ptr<ReceivedHead>) {}
void Events::on_failure(Stream&, const StreamFailure&) {}
void Events::on_room() {}
void Events::on_goaway(ErrorCode) {}

Connection::Connection(const Options& options, Events& events, Workspace& workspace,
                       loop::Instant now)
    : options_(options),
      events_(events),
      workspace_(workspace),
      guard_(options.abuse, now),
      now_(now),
      reading_(options.role == Role::Server ? Reading::Preface : Reading::FrameHead) {
  if (is_server()) {
    left_bytes_ = static_cast<std::uint32_t>(client_preface.size());
  } else {
    events_.append(client_preface);
  }
  write_settings(options);
  settings_pending_since_ = now;
}

Connection::~Connection() {
  for (Stream* const stream : streams_) {
    stream->let_go();
    workspace_.streams.give_back(std::unique_ptr<Stream>(stream));
  }
}

bool Connection::is_over() const noexcept {
  if (state_ == State::Over) return true;
  return state_ == State::Ending && open_count_ == 0 && due_.empty();
}

bool Connection::wants_write() const noexcept {
  const bool has_unsent = !is_server() && highest_id_ >= unsent_id_;
  return !due_.empty() || has_unsent ||
         (state_ != State::Over && ready_mask_ != 0 && send_window_ > 0);
}

// Streams -----------------------------------------------------------------------------------------

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

// The end -----------------------------------------------------------------------------------------

void Connection::begin_shut_down() {
  if (takes_input()) write_goaway(0x7fff'ffff, ErrorCode::NoError, {});
}

void Connection::finish_shut_down() {
  if (!takes_input() || (state_ == State::Ending && !is_server())) return;
  last_taken_id_ = std::min(last_taken_id_, highest_id_);
  write_goaway(is_server() ? highest_id_ : 0, ErrorCode::NoError, {});
  state_ = State::Ending;
}

void Connection::terminate(ErrorCode code, std::string_view reason) noexcept {
  if (!takes_input()) return;
  state_ = State::Over;
  try {
    if (code != ErrorCode::NoError) failure_.emplace(Failure{code, std::string(reason)});
    write_goaway(is_server() ? highest_id_ : 0, code, reason);
  } catch (...) {
    break_off();
  }
}

/// For want of memory.
void Connection::break_off() noexcept {
  state_ = State::Over;
  if (!failure_) failure_.emplace().code = ErrorCode::InternalError;
}

/// For the reason that was charged last.
void Connection::end_abuse() {
  if (!takes_input()) return;
  is_abused_ = true;
  terminate(ErrorCode::EnhanceYourCalm, guard_.reason());
}

Error Connection::connection_error() const noexcept {
  if (error_.code() != Errc::None) return error_;
  if (!failure_) return Error(Errc::Closed, "HTTP/2");
  if (failure_->code == ErrorCode::InternalError) return Error(Errc::OutOfMemory, "HTTP/2");
  if (is_abused_) return Error(Errc::MalformedFrame, guard_.reason());
  return Error(Errc::MalformedFrame, name(failure_->code).data());  // a literal
}

// A client's --------------------------------------------------------------------------------------

std::size_t Connection::room() const noexcept {
  if (state_ != State::Open || highest_id_ >= 0x7fff'fffdU) return 0;
  const std::size_t most = std::min(peer_streams_.value_or(first_client_streams), options_.streams);
  return most - std::min(most, open_count_);
}

void Connection::lose(Error error) {
  // Consumers may release streams meanwhile: then the last, which was seen, moves forward.
  for (std::size_t i = streams_.size(); i-- > 0;) {
    if (i >= streams_.size()) continue;
    Stream& stream = *streams_[i];
    fail(stream, {.error = error, .is_unprocessed = stream.id_ >= unsent_id_});
  }
}

}  // namespace skua::h2
