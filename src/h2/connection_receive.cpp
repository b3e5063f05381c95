// SPDX-License-Identifier: MIT
// Frames in. Content is passed on as it comes; any other frame is looked at when it is whole, from
// where it was received if it lies there in one piece. What a frame costs is charged when its head
// is known.
#include <algorithm>
#include <utility>

#include "h2/connection.hpp"
#include "h2/preface.hpp"

namespace skua::h2 {
namespace {

/// Memory that is kept for the next frame that comes in pieces.
constexpr std::size_t kept_pending_bytes = 512;
constexpr std::uint32_t no_limit = 0xffff'ffff;
constexpr std::size_t ping_bytes = 8;
constexpr std::size_t least_goaway_bytes = 8;

bool is_known(FrameType type) noexcept {
  return type <= FrameType::Continuation || type == FrameType::PriorityUpdate;
}

}  // namespace

void Connection::receive(std::string_view input, loop::Instant now) {
  now_ = now;
  has_begun_frame_ = false;
  try {
    tell_due();
    take(input);
    note_unfinished();
    if (guard_.is_over_mark()) end_abuse();
    if (!is_server() && is_over()) lose(connection_error());
  } catch (...) {
    // What a consumer throws, and a lack of memory.
    terminate(ErrorCode::InternalError, "out of order");
  }
}

void Connection::take(std::string_view input) {
  while (!input.empty() && takes_input()) {
    switch (reading_) {
      case Reading::Preface: take_preface(input); break;
      case Reading::FrameHead: take_frame_head(input); break;
      case Reading::Payload: take_payload(input); break;
      case Reading::PadLength: {
        const auto pad_bytes = static_cast<unsigned char>(input.front());
        input.remove_prefix(1);
        place_content(pad_bytes);
        break;
      }
      case Reading::Content: take_content(input); break;
      case Reading::Skipped: {
        const std::size_t taken = std::min<std::size_t>(left_bytes_, input.size());
        input.remove_prefix(taken);
        left_bytes_ -= static_cast<std::uint32_t>(taken);
        if (left_bytes_ == 0) reading_ = Reading::FrameHead;
        break;
      }
    }
  }
}

// A head counts from its first frame to its last, every other frame for itself. The content of DATA
// has limits of its own.
void Connection::note_unfinished() noexcept {
  const bool is_within_frame = !pending_.empty() || reading_ == Reading::Payload ||
                               (reading_ == Reading::Skipped && frame_.type != FrameType::Data);
  if (block_ != Block::None) {
    unfinished_since_ = head_began_;
  } else if (!is_within_frame || !takes_input()) {
    unfinished_since_.reset();
  } else if (has_begun_frame_ || !unfinished_since_) {
    unfinished_since_ = now_;
  }
}

void Connection::take_preface(std::string_view& input) {
  const std::size_t size = std::min<std::size_t>(left_bytes_, input.size());
  const std::string_view expected =
      client_preface.substr(client_preface.size() - left_bytes_, size);
  if (input.substr(0, size) != expected) {
    return terminate(ErrorCode::ProtocolError, "not the preface of HTTP/2");
  }
  input.remove_prefix(size);
  left_bytes_ -= static_cast<std::uint32_t>(size);
  if (left_bytes_ == 0) reading_ = Reading::FrameHead;
}

void Connection::take_frame_head(std::string_view& input) {
  if (pending_.empty() && input.size() >= frame_header_bytes) {
    frame_ = FrameHead::read(input.data());
    input.remove_prefix(frame_header_bytes);
  } else {
    const std::size_t missing = std::min(frame_header_bytes - pending_.size(), input.size());
    pending_.append(input.substr(0, missing));
    input.remove_prefix(missing);
    if (pending_.size() < frame_header_bytes) return;
    frame_ = FrameHead::read(pending_.data());
    pending_.clear();
  }
  has_begun_frame_ = true;
  if (frame_.type == FrameType::Headers) head_began_ = now_;
  if (!is_allowed_here(frame_)) return;
  charge_frame();
  if (guard_.is_over_mark()) return end_abuse();
  begin_frame();
}

/// What a frame's head alone tells: its size, and whether it may come now.
bool Connection::is_allowed_here(const FrameHead& frame) {
  const auto refuse = [this](ErrorCode code, const char* reason) {
    terminate(code, reason);
    return false;
  };
  if (!has_settings_) {
    // RFC 9113 §3.4. To a client an answer of HTTP/1 looks like this, too.
    if (frame.type != FrameType::Settings || frame.has(frame_flags::ack)) {
      error_ = Error(Errc::UnsupportedVersion, "the server does not speak HTTP/2");
      return refuse(ErrorCode::ProtocolError, "SETTINGS do not come first");
    }
    has_settings_ = true;
  }
  if (frame.length_bytes > options_.frame_bytes) {
    return refuse(ErrorCode::FrameSizeError, "a frame that is too long");
  }
  const bool goes_on = frame.type == FrameType::Continuation && frame.stream_id == block_id_;
  if (block_ != Block::None && !goes_on) {
    return refuse(ErrorCode::ProtocolError, "a head that is interrupted");
  }
  const std::uint32_t length = frame.length_bytes;
  const bool is_of_connection = frame.stream_id == 0;
  const char* const wrong_place = "a frame on the wrong stream";
  const char* const wrong_size = "a frame of the wrong size";
  switch (frame.type) {
    case FrameType::Data:
    case FrameType::Headers:
    case FrameType::Priority:
    case FrameType::RstStream:
      if (is_of_connection) return refuse(ErrorCode::ProtocolError, wrong_place);
      if (frame.type == FrameType::RstStream && length != 4) {
        return refuse(ErrorCode::FrameSizeError, wrong_size);
      }
      return true;
    case FrameType::Settings:
    case FrameType::Ping:
    case FrameType::Goaway:
    case FrameType::PriorityUpdate: {
      if (!is_of_connection) return refuse(ErrorCode::ProtocolError, wrong_place);
      const bool is_ack = frame.has(frame_flags::ack);
      const bool is_wrong = (frame.type == FrameType::Settings && length % setting_bytes != 0) ||
                            (frame.type == FrameType::Settings && is_ack && length != 0) ||
                            (frame.type == FrameType::Ping && length != ping_bytes) ||
                            (frame.type == FrameType::Goaway && length < least_goaway_bytes) ||
                            (frame.type == FrameType::PriorityUpdate && length < 4);
      if (is_wrong) return refuse(ErrorCode::FrameSizeError, wrong_size);
      // RFC 9218 §7.1
      if (frame.type == FrameType::PriorityUpdate && !is_server()) {
        return refuse(ErrorCode::ProtocolError, "PRIORITY_UPDATE of a server");
      }
      return true;
    }
    case FrameType::WindowUpdate:
      return length == 4 || refuse(ErrorCode::FrameSizeError, wrong_size);
    case FrameType::Continuation:
      return block_ != Block::None ||
             refuse(ErrorCode::ProtocolError, "CONTINUATION without HEADERS");
    case FrameType::PushPromise:
      // RFC 9113 §8.4: a client does not push, and takes no pushes.
      return refuse(ErrorCode::ProtocolError, "PUSH_PROMISE");
  }
  return true;
}

/// What needs no state of a stream; the rest is charged where that is known.
void Connection::charge_frame() {
  switch (frame_.type) {
    case FrameType::Data:
    case FrameType::Headers: return;
    case FrameType::RstStream:
      // A server's refuses what we have asked for: it can have no more of them than we of streams.
      if (is_server()) charge(Abuse::PeerReset);
      return;
    case FrameType::Settings:
      if (!frame_.has(frame_flags::ack)) charge(Abuse::Settings);
      return;
    case FrameType::Ping:
      if (!frame_.has(frame_flags::ack)) guard_.take_ping(now_);
      return;
    case FrameType::Priority:
    case FrameType::PriorityUpdate: return charge(Abuse::Priority);
    case FrameType::WindowUpdate: return;  // its increment decides
    case FrameType::Continuation: return charge(Abuse::Continuation);
    case FrameType::PushPromise: return;
    case FrameType::Goaway:
      // A client's ends what it may do; a server may say it again and again.
      if (!is_server()) charge(Abuse::UnknownFrame);
      return;
  }
  charge(Abuse::UnknownFrame);
}

void Connection::begin_frame() {
  if (frame_.type == FrameType::Data) return begin_data();
  if (!is_known(frame_.type)) {
    left_bytes_ = frame_.length_bytes;
    if (left_bytes_ != 0) reading_ = Reading::Skipped;
    return;
  }
  if (frame_.length_bytes == 0) return end_frame({});
  reading_ = Reading::Payload;
}

void Connection::take_payload(std::string_view& input) {
  if (pending_.empty() && input.size() >= frame_.length_bytes) {
    const std::string_view payload = input.substr(0, frame_.length_bytes);
    input.remove_prefix(payload.size());
    return end_frame(payload);
  }
  const std::size_t taken = std::min(frame_.length_bytes - pending_.size(), input.size());
  pending_.append(input.substr(0, taken));
  input.remove_prefix(taken);
  if (pending_.size() < frame_.length_bytes) return;
  end_frame(pending_);
  pending_.clear();
  if (pending_.capacity() > kept_pending_bytes) pending_.shrink_to_fit();
}

void Connection::end_frame(std::string_view payload) {
  reading_ = Reading::FrameHead;
  switch (frame_.type) {
    case FrameType::Headers: on_headers(payload); break;
    case FrameType::Continuation: on_continuation(payload); break;
    case FrameType::Settings: on_settings(payload); break;
    case FrameType::Ping: on_ping(payload); break;
    case FrameType::Goaway: on_goaway(payload); break;
    case FrameType::WindowUpdate:
      on_window_update(read_number(payload.data()) & 0x7fff'ffffU);
      break;
    case FrameType::RstStream: on_reset(static_cast<ErrorCode>(read_number(payload.data()))); break;
    case FrameType::Priority:
      if (payload.size() != priority_bytes) {
        terminate(ErrorCode::FrameSizeError, "a frame of the wrong size");
      } else {
        on_priority(read_number(payload.data()) & 0x7fff'ffffU);
      }
      break;
    case FrameType::PriorityUpdate: on_priority_update(payload); break;
    case FrameType::Data:
    case FrameType::PushPromise: break;
  }
  tell_due();
}

// Content -----------------------------------------------------------------------------------------

void Connection::begin_data() {
  const std::uint32_t length = frame_.length_bytes;
  left_bytes_ = length;
  receive_window_ -= length;
  if (receive_window_ < 0) {
    return terminate(ErrorCode::FlowControlError, "more content than the window allows");
  }
  // Given back at once: a stream that nobody reads must not hold up the others.
  consumed_bytes_ += length;
  if (consumed_bytes_ >= options_.connection_window_bytes / 2) {
    receive_window_ += consumed_bytes_;
    write_window_update(0, std::exchange(consumed_bytes_, 0));
  }
  Stream* const stream = find_open(frame_.stream_id);
  if (stream == nullptr) {
    if (is_ignored(frame_.stream_id)) {
      // On its way when we said that we look at no more.
    } else if (is_idle(frame_.stream_id)) {
      return terminate(ErrorCode::ProtocolError, "content on a stream that was not begun");
    } else if (!was_reset_by_us(frame_.stream_id)) {
      return terminate(ErrorCode::StreamClosed, "content on a stream that is over");
    } else {
      charge(Abuse::LateFrame);
      if (frame_.has(frame_flags::end_stream)) forget_reset(frame_.stream_id);
    }
  } else if (stream->has_received_all_) {
    return terminate(ErrorCode::StreamClosed, "content on a stream that is over");
  } else {
    stream->receive_window_ -= length;
    if (stream->receive_window_ < 0) {
      punish(*stream, ErrorCode::FlowControlError, Error(Errc::MalformedFrame, "HTTP/2 window"));
    } else if (!is_server() && !stream->has_response_) {
      punish(*stream, ErrorCode::ProtocolError,
             Error(Errc::MalformedFrame, "content before its head"));
    }
  }
  if (!frame_.has(frame_flags::padded)) return place_content(0);
  if (length == 0) return terminate(ErrorCode::FrameSizeError, "a frame of the wrong size");
  --left_bytes_;
  reading_ = Reading::PadLength;
  pad_bytes_ = 1;
}

/// The content begins: it is known how much of the frame it is.
void Connection::place_content(std::uint32_t pad_bytes) {
  if (pad_bytes > left_bytes_) {
    return terminate(ErrorCode::ProtocolError, "more padding than there is frame");
  }
  const bool is_padded = frame_.has(frame_flags::padded);
  const std::uint32_t padding = is_padded ? pad_bytes + 1 : 0;
  pad_bytes_ = pad_bytes;
  left_bytes_ -= pad_bytes;
  if (left_bytes_ == 0 && !frame_.has(frame_flags::end_stream)) charge(Abuse::EmptyData);
  if (is_padded && padding > frame_.length_bytes / 2) charge(Abuse::PaddedData);
  if (guard_.is_over_mark()) return end_abuse();
  if (Stream* const stream = find_open(frame_.stream_id)) {
    stream->framed_bytes_ += left_bytes_;
    if (stream->length_bytes_ && stream->framed_bytes_ > *stream->length_bytes_) {
      punish(*stream, ErrorCode::ProtocolError, Error(Errc::BodyTooLong, "response"));
    } else {
      consume(*stream, padding);
    }
  }
  reading_ = Reading::Content;
  if (left_bytes_ == 0) end_data();
}

void Connection::take_content(std::string_view& input) {
  const std::string_view content = input.substr(0, left_bytes_);
  input.remove_prefix(content.size());
  left_bytes_ -= static_cast<std::uint32_t>(content.size());
  Stream* const stream = find_open(frame_.stream_id);
  if (stream != nullptr && !stream->is_released_) events_.on_data(*stream, content);
  if (left_bytes_ == 0) end_data();
}

void Connection::end_data() {
  left_bytes_ = pad_bytes_;
  reading_ = left_bytes_ != 0 ? Reading::Skipped : Reading::FrameHead;
  if (frame_.has(frame_flags::end_stream)) {
    if (Stream* const stream = find_open(frame_.stream_id)) end_content(*stream, nullptr);
  }
  tell_due();
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
    terminate(code, "a setting with a wrong value");
    return false;
  };
  switch (setting) {
    case Setting::HeaderTableSize: encoder_.set_peer_table_bytes(value); break;
    case Setting::EnablePush:
      if (value > (is_server() ? 1 : 0)) return refuse(ErrorCode::ProtocolError);
      break;
    case Setting::MaxConcurrentStreams: peer_streams_ = value; break;
    case Setting::InitialWindowSize:
      if (value > most_window_bytes) return refuse(ErrorCode::FlowControlError);
      change_send_windows(std::int64_t{value} - first_send_window_);
      first_send_window_ = value;
      break;
    case Setting::MaxFrameSize:
      if (value < first_frame_bytes || value > most_frame_bytes) {
        return refuse(ErrorCode::ProtocolError);
      }
      sent_frame_bytes_ = value;
      break;
    case Setting::EnableConnectProtocol:
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
    if (stream->send_window_ > most_window_bytes) {
      return terminate(ErrorCode::FlowControlError, "a window that is too large");
    }
    const Stream::Content content = stream->content_;
    if (content == Stream::Content::Blocked && stream->send_window_ > 0) {
      leave_ready(*stream, Stream::Content::None);
      make_ready(*stream);
    } else if (content == Stream::Content::Ready && stream->send_window_ <= 0) {
      leave_ready(*stream, Stream::Content::Blocked);
    }
  }
}

/// From here on the peer keeps to our windows.
void Connection::acknowledge_settings() noexcept {
  if (!std::exchange(settings_pending_since_, std::nullopt)) return;
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
    if (increment == 0) return terminate(ErrorCode::ProtocolError, "a window opened by nothing");
    send_window_ += increment;
    if (send_window_ > most_window_bytes) {
      terminate(ErrorCode::FlowControlError, "a window that is too large");
    }
    return;
  }
  Stream* const stream = find_open(frame_.stream_id);
  if (stream == nullptr) {
    if (is_idle(frame_.stream_id) && !is_ignored(frame_.stream_id)) {
      terminate(ErrorCode::ProtocolError, "a window of a stream that was not begun");
    }
    return;
  }
  if (increment == 0) {
    return punish(*stream, ErrorCode::ProtocolError, Error(Errc::MalformedFrame, "HTTP/2 window"));
  }
  stream->send_window_ += increment;
  if (stream->send_window_ > most_window_bytes) {
    return punish(*stream, ErrorCode::FlowControlError,
                  Error(Errc::MalformedFrame, "HTTP/2 window"));
  }
  if (stream->content_ == Stream::Content::Blocked && stream->send_window_ > 0) {
    leave_ready(*stream, Stream::Content::None);
    make_ready(*stream);
  }
}

// Frames of a stream ------------------------------------------------------------------------------

void Connection::on_reset(ErrorCode code) {
  const std::uint32_t id = frame_.stream_id;
  Stream* const stream = find_open(id);
  if (stream == nullptr) {
    if (is_ignored(id)) return;
    if (is_idle(id)) return terminate(ErrorCode::ProtocolError, "RST_STREAM of no stream");
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

/// Of RFC 7540 §5.3.1 only this is left.
void Connection::on_priority(std::uint32_t parent) {
  if (parent == frame_.stream_id) {
    terminate(ErrorCode::ProtocolError, "a stream that depends on itself");
  }
}

/// RFC 9218 §7.1. Of a stream that is not begun it is ignored: its head says it, too.
void Connection::on_priority_update(std::string_view payload) {
  const std::uint32_t id = read_number(payload.data()) & 0x7fff'ffffU;
  if (id == 0) return terminate(ErrorCode::ProtocolError, "PRIORITY_UPDATE of no stream");
  Stream* const stream = find_open(id);
  if (stream != nullptr) reprioritize(*stream, parse_priority(payload.substr(4)));
}

}  // namespace skua::h2
