// SPDX-License-Identifier: MIT
// How a connection begins and ends, and what it is asked now and then.
#include "h2/connection.hpp"

#include <algorithm>
#include <utility>

#include "h2/preface.hpp"

namespace skua::h2 {
namespace {

/// RFC 9113 §6.9.2: until the server says how many.
constexpr std::uint32_t first_client_streams = 100;

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
