// SPDX-License-Identifier: MIT
// In: commands, SETTINGS and other control frames. Out: how a connection begins and ends.
#include "h2/connection.hpp"

#include <algorithm>
#include <utility>

#include "h2/frame.hpp"

namespace skua::h2 {
namespace {

/// Until the server announces its limit. RFC 9113 §6.5.2
constexpr std::uint32_t first_client_streams = 100;

constexpr std::uint32_t no_limit = 0xffff'ffff;
/// A longer delay of the SETTINGS acknowledgement means a slow peer, not a long path.
constexpr Duration longest_round_trip = std::chrono::milliseconds(500);

}  // namespace

void Events::on_request(Stream&, bool) {}
void Events::on_answered_early(Stream&) {}
void Events::on_closed(Stream&, ErrorCode) {}
void Events::on_response(Stream&, std::unique_ptr<ReceivedHead>) {}
void Events::on_failure(Stream&, const StreamFailure&) {}
void Events::on_room() {}
std::size_t Events::send_now(std::span<const std::string_view>) { return 0; }
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

/// Ends the connection without a GOAWAY, because memory ran out.
void Connection::break_off() noexcept {
  state_ = State::Over;
  if (!failure_) failure_.emplace().code = ErrorCode::InternalError;
}

/// Ends the connection for the last charge of the abuse guard.
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
  return Error(Errc::MalformedFrame, name(failure_->code).data());  // names are literals
}

// Client only -------------------------------------------------------------------------------------

std::size_t Connection::room() const noexcept {
  if (state_ != State::Open || highest_id_ >= 0x7fff'fffdU) return 0;
  const std::size_t most = std::min(peer_streams_.value_or(first_client_streams), options_.streams);
  return most - std::min(most, open_count_);
}

void Connection::lose(Error error) {
  // Consumers may release streams meanwhile, which moves later streams, already seen, forward.
  for (std::size_t i = streams_.size(); i-- > 0;) {
    if (i >= streams_.size()) continue;
    Stream& stream = *streams_[i];
    fail(stream, {.error = error, .is_unprocessed = stream.id_ >= unsent_id_});
  }
}

// Frames of the connection ------------------------------------------------------------------------

void Connection::on_settings(std::string_view payload) {
  if (frame_.has(frame_flags::ack)) return acknowledge_settings();
  peer_streams_ = peer_streams_.value_or(no_limit);  // RFC 9113 §6.5.2
  for (; !payload.empty(); payload.remove_prefix(setting_bytes)) {
    const std::uint32_t id = read_number(payload.data()) >> 16U;
    if (!apply_setting(static_cast<Setting>(id), read_number(payload.data() + 2))) return;
  }
  write_frame(FrameType::Settings, frame_flags::ack, 0, {});
  if (!is_server()) events_.on_room();
}

/// RFC 9113 §6.5.2
bool Connection::apply_setting(Setting setting, std::uint32_t value) {
  const auto refuse = [this](ErrorCode code) {
    terminate(code, "invalid value in SETTINGS");
    return false;
  };
  switch (setting) {
    case Setting::HeaderTableSize: encoder_.set_peer_table_bytes(value); break;
    case Setting::EnablePush:
      if (value > (is_server() ? 1 : 0)) return refuse(ErrorCode::ProtocolError);
      break;
    case Setting::MaxConcurrentStreams: peer_streams_ = value; break;
    case Setting::InitialWindowSize:
      if (value > max_window_bytes) return refuse(ErrorCode::FlowControlError);
      change_send_windows(std::int64_t{value} - first_send_window_);
      first_send_window_ = value;
      break;
    case Setting::MaxFrameSize:
      if (value < first_frame_bytes || value > max_frame_bytes) {
        return refuse(ErrorCode::ProtocolError);
      }
      sent_frame_bytes_ = value;
      break;
    case Setting::EnableConnectProtocol:
      // RFC 8441 §3: it is not taken back.
      if (value > 1 || value < (permits_tunnels_ ? 1U : 0U)) {
        return refuse(ErrorCode::ProtocolError);
      }
      permits_tunnels_ = value == 1;
      break;
    case Setting::NoRfc7540Priorities:
      if (value > 1) return refuse(ErrorCode::ProtocolError);
      break;
    case Setting::MaxHeaderListSize: break;
  }
  return takes_input();
}

/// RFC 9113 §6.9.2
void Connection::change_send_windows(std::int64_t by) {
  for (Stream* const stream : streams_) {
    if (stream->is_closed()) continue;
    stream->send_window_ += by;
    if (stream->send_window_ > max_window_bytes) {
      return terminate(ErrorCode::FlowControlError, "flow-control window too large");
    }
  }
  unblock();
}

/// Called when a window may have opened.
void Connection::unblock() noexcept {
  if (send_window_ <= 0) return;
  blocked_.for_each([this](Stream& stream) {
    if (stream.send_window_ > 0) make_ready(stream);
  });
}

/// From now on the peer respects our window size.
void Connection::acknowledge_settings() noexcept {
  if (!settings_pending_since_) return;
  round_trip_ = std::min(now_ - *settings_pending_since_, longest_round_trip);
  settings_pending_since_.reset();
  const std::int64_t by = options_.stream_window_bytes - first_receive_window_;
  first_receive_window_ = options_.stream_window_bytes;
  for (Stream* const stream : streams_) stream->receive_window_ += by;
}

void Connection::on_ping(std::string_view payload) {
  if (!frame_.has(frame_flags::ack)) write_frame(FrameType::Ping, frame_flags::ack, 0, payload);
}

void Connection::on_goaway(std::string_view payload) {
  const std::uint32_t last_id = read_number(payload.data()) & 0x7fff'ffffU;
  if (state_ == State::Open) state_ = State::Ending;
  events_.on_goaway(static_cast<ErrorCode>(read_number(payload.data() + 4)));
  if (is_server()) return;
  for (std::size_t i = streams_.size(); i-- > 0;) {
    Stream& stream = *streams_[i];
    if (stream.id_ <= last_id) break;
    if (stream.is_closed()) continue;
    close_stream(stream, ErrorCode::RefusedStream);
    fail(stream, {.error = Error(Errc::Closed, "GOAWAY"), .is_unprocessed = true});
  }
}

void Connection::on_window_update(std::uint32_t increment) {
  guard_.take_window_update(increment, now_);
  if (guard_.is_over_mark()) return end_abuse();
  if (frame_.stream_id == 0) {
    if (increment == 0) return terminate(ErrorCode::ProtocolError, "WINDOW_UPDATE increment is 0");
    const bool was_shut = send_window_ <= 0;
    send_window_ += increment;
    if (send_window_ > max_window_bytes) {
      return terminate(ErrorCode::FlowControlError, "flow-control window too large");
    }
    if (was_shut) unblock();
    return;
  }
  Stream* const stream = find_open(frame_.stream_id);
  if (stream == nullptr) {
    if (is_idle(frame_.stream_id) && !is_ignored(frame_.stream_id)) {
      terminate(ErrorCode::ProtocolError, "WINDOW_UPDATE on an idle stream");
    }
    return;
  }
  if (increment == 0) {
    return reset_for_error(*stream, ErrorCode::ProtocolError,
                           Error(Errc::MalformedFrame, "HTTP/2 window"));
  }
  stream->send_window_ += increment;
  if (stream->send_window_ > max_window_bytes) {
    return reset_for_error(*stream, ErrorCode::FlowControlError,
                           Error(Errc::MalformedFrame, "HTTP/2 window"));
  }
  const bool is_open = send_window_ > 0 && stream->send_window_ > 0;
  if (is_open && stream->content_ == Stream::Content::Blocked) make_ready(*stream);
}

// Frames of a stream ------------------------------------------------------------------------------

void Connection::on_reset(ErrorCode code) {
  const std::uint32_t id = frame_.stream_id;
  Stream* const stream = find_open(id);
  if (stream == nullptr) {
    if (is_ignored(id)) return;
    if (is_idle(id)) return terminate(ErrorCode::ProtocolError, "RST_STREAM on an idle stream");
    if (!is_server()) charge(Abuse::LateFrame);
    return forget_reset(id);
  }
  close_stream(*stream, code);
  if (is_server()) return;
  // RFC 9113 §8.7
  if (code == ErrorCode::RefusedStream) {
    const bool is_ending = state_ == State::Ending;
    return fail(*stream, {.error = is_ending ? Error(Errc::Closed, "GOAWAY")
                                             : Error(Errc::Reset, name(code).data()),
                          .is_unprocessed = !stream->has_begun_});
  }
  const bool wants_http1 = code == ErrorCode::Http11Required;
  fail(*stream,
       {.error = Error(wants_http1 ? Errc::UnsupportedVersion : Errc::Reset, name(code).data()),
        .is_unprocessed = wants_http1});
}

/// The only rule of RFC 7540 §5.3.1 that is still enforced.
void Connection::on_priority(std::uint32_t parent) {
  if (parent == frame_.stream_id) {
    terminate(ErrorCode::ProtocolError, "stream depends on itself");
  }
}

/// RFC 9218 §7.1. Ignored for streams that have not begun: their heads carry a priority, too.
void Connection::on_priority_update(std::string_view payload) {
  const std::uint32_t id = read_number(payload.data()) & 0x7fff'ffffU;
  if (id == 0) return terminate(ErrorCode::ProtocolError, "PRIORITY_UPDATE for stream 0");
  Stream* const stream = find_open(id);
  if (stream != nullptr) reprioritize(*stream, parse_priority(payload.substr(4)));
}

}  // namespace skua::h2
