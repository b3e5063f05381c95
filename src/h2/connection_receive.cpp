// SPDX-License-Identifier: MIT
// In: frames. Out: events. Content is passed on as it arrives. Any other frame is processed once
// complete, in place if it was received in one piece. Its abuse charge applies once its head is
// known.

#include <algorithm>
#include <utility>

#include "h2/connection.hpp"
#include "h2/frame.hpp"

namespace skua::h2 {
namespace {

/// Memory that is kept for the next frame that arrives in pieces.
constexpr std::size_t kept_pending_bytes = 512;
constexpr std::size_t ping_bytes = 8;
constexpr std::size_t min_goaway_bytes = 8;

bool is_known(FrameType type) noexcept {
  return type <= FrameType::Continuation || type == FrameType::PriorityUpdate;
}

constexpr std::size_t first_final = 200;

}  // namespace

void Connection::receive(std::string_view input, loop::Instant now) {
  now_ = now;
  has_begun_frame_ = false;
  try {
    report_closed_streams();
    take(input);
    note_unfinished();
    if (guard_.is_over_mark()) end_abuse();
    if (!is_server() && is_over()) lose(connection_error());
  } catch (...) {
    // The consumer threw, or memory ran out.
    terminate(ErrorCode::InternalError, "internal error");
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

// A head is timed from its first frame to its last; any other frame is timed by itself. The content
// of DATA has its own limits.
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
    return terminate(ErrorCode::ProtocolError, "invalid connection preface");
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

/// Checks what the frame head alone tells: the size, and whether the frame may come now.
bool Connection::is_allowed_here(const FrameHead& frame) {
  const auto refuse = [this](ErrorCode code, const char* reason) {
    terminate(code, reason);
    return false;
  };
  if (!has_settings_) {
    // RFC 9113 §3.4. An HTTP/1 response also ends up here.
    if (frame.type != FrameType::Settings || frame.has(frame_flags::ack)) {
      error_ = Error(Errc::UnsupportedVersion, "the server does not speak HTTP/2");
      return refuse(ErrorCode::ProtocolError, "first frame is not SETTINGS");
    }
    has_settings_ = true;
  }
  if (frame.length_bytes > options_.frame_bytes) {
    return refuse(ErrorCode::FrameSizeError, "frame too long");
  }
  const bool goes_on = frame.type == FrameType::Continuation && frame.stream_id == block_id_;
  if (block_ != Block::None && !goes_on) {
    return refuse(ErrorCode::ProtocolError, "header block interrupted by another frame");
  }
  const std::uint32_t length = frame.length_bytes;
  const bool is_of_connection = frame.stream_id == 0;
  const char* const wrong_place = "frame on the wrong stream";
  const char* const wrong_size = "frame of the wrong size";
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
                            (frame.type == FrameType::Goaway && length < min_goaway_bytes) ||
                            (frame.type == FrameType::PriorityUpdate && length < 4);
      if (is_wrong) return refuse(ErrorCode::FrameSizeError, wrong_size);
      // RFC 9218 §7.1
      if (frame.type == FrameType::PriorityUpdate && !is_server()) {
        return refuse(ErrorCode::ProtocolError, "PRIORITY_UPDATE from a server");
      }
      return true;
    }
    case FrameType::WindowUpdate:
      return length == 4 || refuse(ErrorCode::FrameSizeError, wrong_size);
    case FrameType::Continuation:
      return block_ != Block::None ||
             refuse(ErrorCode::ProtocolError, "CONTINUATION without HEADERS");
    case FrameType::PushPromise:
      // RFC 9113 §8.4: clients cannot push, and our client disables push.
      return refuse(ErrorCode::ProtocolError, "PUSH_PROMISE");
  }
  return true;
}

/// Charges frames that do not depend on a stream's state; the others are charged later.
void Connection::charge_frame() {
  switch (frame_.type) {
    case FrameType::Data:
    case FrameType::Headers: return;
    case FrameType::RstStream:
      // A server can reset only streams that we opened, which limits the number.
      if (is_server()) charge(Abuse::PeerReset);
      return;
    case FrameType::Settings:
      if (!frame_.has(frame_flags::ack)) return charge(Abuse::Settings);
      if (settings_pending_since_) return;
      break;  // acknowledges nothing
    case FrameType::Ping:
      if (!frame_.has(frame_flags::ack)) return guard_.take_ping(now_);
      break;
    case FrameType::Priority:
    case FrameType::PriorityUpdate: return charge(Abuse::Priority);
    case FrameType::WindowUpdate: return;  // its increment decides
    case FrameType::Continuation: return charge(Abuse::Continuation);
    case FrameType::PushPromise: return;
    case FrameType::Goaway:
      // A client gains nothing: it can open no more streams.
      if (is_server() && state_ == State::Open) return;
      break;
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
        terminate(ErrorCode::FrameSizeError, "frame of the wrong size");
      } else {
        on_priority(read_number(payload.data()) & 0x7fff'ffffU);
      }
      break;
    case FrameType::PriorityUpdate: on_priority_update(payload); break;
    case FrameType::Data:
    case FrameType::PushPromise: break;
  }
  report_closed_streams();
}

// Content -----------------------------------------------------------------------------------------

void Connection::begin_data() {
  const std::uint32_t length = frame_.length_bytes;
  left_bytes_ = length;
  receive_window_ -= length;
  if (receive_window_ < 0) {
    return terminate(ErrorCode::FlowControlError, "content exceeds the connection window");
  }
  // Returned at once, so that an unread stream cannot block the others.
  consumed_bytes_ += length;
  if (consumed_bytes_ >= options_.connection_window_bytes / 2) {
    receive_window_ += consumed_bytes_;
    write_window_update(0, std::exchange(consumed_bytes_, 0));
  }
  Stream* const stream = find_open(frame_.stream_id);
  if (stream == nullptr) {
    if (is_ignored(frame_.stream_id)) {
      // In flight when we sent the final GOAWAY.
    } else if (is_idle(frame_.stream_id)) {
      return terminate(ErrorCode::ProtocolError, "DATA on an idle stream");
    } else if (!was_reset_by_us(frame_.stream_id)) {
      return terminate(ErrorCode::StreamClosed, "DATA on a closed stream");
    } else {
      charge(Abuse::LateFrame);
      if (frame_.has(frame_flags::end_stream)) forget_reset(frame_.stream_id);
    }
  } else if (stream->has_received_all_) {
    return terminate(ErrorCode::StreamClosed, "DATA on a closed stream");
  } else {
    stream->receive_window_ -= length;
    // RFC 9113 §6.9.1, §6.9.2: our SETTINGS may have made it negative, and an empty frame fits into
    // any window.
    if (stream->receive_window_ < 0 && length != 0) {
      reset_for_error(*stream, ErrorCode::FlowControlError,
                      Error(Errc::MalformedFrame, "HTTP/2 window"));
    } else if (!is_server() && !stream->has_response_) {
      reset_for_error(*stream, ErrorCode::ProtocolError,
                      Error(Errc::MalformedFrame, "DATA before HEADERS"));
    }
  }
  if (!frame_.has(frame_flags::padded)) return place_content(0);
  if (length == 0) return terminate(ErrorCode::FrameSizeError, "frame of the wrong size");
  --left_bytes_;
  reading_ = Reading::PadLength;
  pad_bytes_ = 1;
}

/// Begins the content, once the pad length and thus the content's size is known.
void Connection::place_content(std::uint32_t pad_bytes) {
  if (pad_bytes > left_bytes_) {
    return terminate(ErrorCode::ProtocolError, "padding exceeds the frame");
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
      reset_for_error(*stream, ErrorCode::ProtocolError, Error(Errc::BodyTooLong, "response"));
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
  report_closed_streams();
}

void Connection::on_headers(std::string_view payload) {
  std::size_t pad_bytes = 0;
  if (frame_.has(frame_flags::padded)) {
    if (payload.empty()) return terminate(ErrorCode::FrameSizeError, "frame of the wrong size");
    pad_bytes = static_cast<unsigned char>(payload.front());
    payload.remove_prefix(1);
  }
  is_self_dependent_ = false;
  if (frame_.has(frame_flags::priority)) {
    if (payload.size() < priority_bytes) {
      return terminate(ErrorCode::FrameSizeError, "frame of the wrong size");
    }
    is_self_dependent_ = (read_number(payload.data()) & 0x7fff'ffffU) == frame_.stream_id;
    payload.remove_prefix(priority_bytes);
  }
  if (pad_bytes > payload.size()) {
    return terminate(ErrorCode::ProtocolError, "padding exceeds the frame");
  }
  payload.remove_suffix(pad_bytes);
  begin_block();
  if (takes_input()) take_block(payload, frame_.has(frame_flags::end_headers));
}

void Connection::on_continuation(std::string_view payload) {
  take_block(payload, frame_.has(frame_flags::end_headers));
}

void Connection::begin_block() {
  const std::uint32_t id = frame_.stream_id;
  block_id_ = id;
  is_block_end_ = frame_.has(frame_flags::end_stream);
  is_block_malformed_ = is_self_dependent_;
  block_ = Block::Discarded;
  decoder_.start();
  if (Stream* const stream = find_open(id)) {
    if (stream->has_received_all_) {
      return terminate(ErrorCode::StreamClosed, "HEADERS on a closed stream");
    }
    return begin_section(*stream);
  }
  if (is_ignored(id)) return;
  if (is_server() && id % 2 == 1 && id > highest_id_) return begin_request();
  if (is_idle(id)) return terminate(ErrorCode::ProtocolError, "HEADERS on an idle stream");
  if (was_reset_by_us(id)) {
    charge(Abuse::LateFrame);
    if (is_block_end_) forget_reset(id);
    return;
  }
  // RFC 9113 §5.1.1: a skipped stream id can no longer be used.
  if (is_server() && !was_begun(id)) {
    return terminate(ErrorCode::ProtocolError, "HEADERS on a skipped stream id");
  }
  terminate(ErrorCode::StreamClosed, "HEADERS on a closed stream");
}

void Connection::begin_request() {
  const std::uint32_t by = (block_id_ - highest_id_) / 2;
  begun_ = highest_id_ == 0 || by >= 64 ? 1 : begun_ << by | 1U;
  highest_id_ = block_id_;
  // Streams that the peer has reset count while a handler works on them.
  if (streams_.size() >= options_.streams) {
    charge(Abuse::RefusedStream);
    if (!is_block_end_) remember_reset(block_id_);
    return write_reset(block_id_, ErrorCode::RefusedStream);
  }
  Stream& stream = open_stream(block_id_);
  stream.head_.start(HeadBuilder::Kind::Request, options_.head);
  block_ = Block::Request;
}

/// Begins a section that is not a request: a response head or trailers.
void Connection::begin_section(Stream& stream) {
  stream.has_begun_ = true;
  stream.section_ = std::make_unique<ReceivedHead>();
  if (is_server() || stream.has_response_) {
    stream.section_->builder.start(HeadBuilder::Kind::Trailers, options_.trailers);
    block_ = Block::Trailers;
  } else {
    stream.section_->builder.start(HeadBuilder::Kind::Response, options_.head);
    block_ = Block::Response;
  }
}

void Connection::take_block(std::string_view fragment, bool is_last) {
  Stream* const stream = block_ == Block::Discarded ? nullptr : find_open(block_id_);
  HeadBuilder* builder = nullptr;
  if (stream != nullptr) {
    builder = block_ == Block::Request ? &stream->head_ : &stream->section_->builder;
  }
  const bool is_joined = !block_rest_.empty();
  const std::string_view block = is_joined ? block_rest_.append(fragment) : fragment;
  std::size_t taken = 0;
  const HpackDecoder::Result result = decoder_.decode(
      block, is_last, taken, [&](const DecodedField& field) { return take_field(field, builder); });
  if (result == HpackDecoder::Result::Malformed) {
    return terminate(ErrorCode::CompressionError, "malformed header block");
  }
  if (result == HpackDecoder::Result::Stopped) return;
  if (is_last) {
    std::string().swap(block_rest_);
    return end_block();
  }
  if (is_joined) {
    block_rest_.erase(0, taken);
  } else {
    block_rest_.assign(block.substr(taken));
  }
  if (block_rest_.size() > max_literal_bytes(options_)) {
    terminate(ErrorCode::EnhanceYourCalm, "header field far too long");
  }
}

/// Returns false if it has ended the connection.
bool Connection::take_field(const DecodedField& field, HeadBuilder* builder) {
  if (builder == nullptr) return true;
  switch (builder->add(field)) {
    case HeadStatus::Fine: return true;
    case HeadStatus::Malformed: is_block_malformed_ = true; return true;
    case HeadStatus::TooLong: break;
  }
  // One octet can stand for 4 KiB of the dynamic table, so the rest is not even decoded.
  error_ = Error(block_ == Block::Trailers ? Errc::TrailerTooLong : Errc::HeadTooLong, "response");
  terminate(ErrorCode::EnhanceYourCalm, "header section far too long");
  return false;
}

void Connection::end_block() {
  const Block block = std::exchange(block_, Block::None);
  decoder_.end();
  Stream* const stream = block == Block::Discarded ? nullptr : find_open(block_id_);
  if (stream == nullptr) return;
  *workspace_.expanded_bytes +=
      (block == Block::Request ? stream->head_ : stream->section_->builder).list_bytes();
  if (is_block_malformed_) {
    stream->section_.reset();
    return reset_for_error(*stream, ErrorCode::ProtocolError,
                           Error(Errc::MalformedField, "response"));
  }
  switch (block) {
    case Block::Request: return on_request_head(*stream);
    case Block::Response: return on_response_head(*stream);
    case Block::Trailers: return on_trailers(*stream);
    case Block::None:
    case Block::Discarded: return;
  }
}

// Server only -------------------------------------------------------------------------------------

void Connection::on_request_head(Stream& stream) {
  RequestHead& request = stream.request_;
  const bool is_end = is_block_end_;
  const bool is_malformed =
      stream.head_.finish_request(request, workspace_.hosts) == HeadStatus::Malformed ||
      (!request.protocol.empty() && !options_.allows_extended_connect) ||
      (is_end && request.error == Errc::None && request.length_bytes.value_or(0) != 0);
  if (is_malformed) return reset_for_error(stream, ErrorCode::ProtocolError, Errc::MalformedField);
  request.expect_continue = request.expect_continue && !is_end;  // no content to wait for
  if (request.head.method != Method::Connect) stream.length_bytes_ = request.length_bytes;
  stream.priority_ = request.priority;
  stream.is_told_ = true;
  if (is_end) {
    stream.has_received_all_ = true;
    stream.state_ = Stream::State::HalfClosedRemote;
  }
  events_.on_request(stream, is_end);
}

// Client only -------------------------------------------------------------------------------------

void Connection::on_response_head(Stream& stream) {
  ReceivedHead& section = *stream.section_;
  if (section.builder.finish_response(section.head) == HeadStatus::Malformed) {
    return reset_for_error(stream, ErrorCode::ProtocolError,
                           Error(Errc::MalformedField, "response"));
  }
  if (const Errc error = section.builder.error(); error != Errc::None) {
    return reset_for_error(stream, ErrorCode::Cancel, Error(error, "response"));
  }
  const http::Head& head = section.head;
  if (head.status < first_final) return on_interim_head(stream);
  stream.has_response_ = true;
  // RFC 9110 §8.6: here Content-Length is that of the content that would have been sent.
  const bool has_content = !stream.is_head_request_ && head.status != code(Status::NoContent) &&
                           head.status != code(Status::NotModified);
  stream.length_bytes_ = has_content ? content_length(head) : std::optional<std::uint64_t>(0);
  // RFC 9110 §9.3.6: what follows is not content.
  stream.is_tunnel_ = stream.is_tunnel_ && head.status / 100 == 2;
  if (stream.is_tunnel_) stream.length_bytes_.reset();
  if (is_block_end_ && stream.length_bytes_.value_or(0) != 0) {
    return reset_for_error(stream, ErrorCode::ProtocolError,
                           Error(Errc::TruncatedBody, "response"));
  }
  events_.on_response(stream, std::move(stream.section_));
  if (is_block_end_ && !stream.is_closed()) end_content(stream, nullptr);
}

void Connection::on_interim_head(Stream& stream) {
  if (is_block_end_) {
    return reset_for_error(stream, ErrorCode::ProtocolError,
                           Error(Errc::MalformedField, "response"));
  }
  if (stream.interim_count_ == options_.interim_responses) {
    return reset_for_error(stream, ErrorCode::EnhanceYourCalm,
                           Error(Errc::TooManyInterimResponses));
  }
  ++stream.interim_count_;
  stream.interim_bytes_ += stream.section_->head.size_bytes;
  if (stream.interim_bytes_ > options_.interim_bytes) {
    return reset_for_error(stream, ErrorCode::Cancel,
                           Error(Errc::HeadTooLong, "interim responses"));
  }
  events_.on_response(stream, std::move(stream.section_));
}

// Both roles --------------------------------------------------------------------------------------

void Connection::on_trailers(Stream& stream) {
  std::unique_ptr<ReceivedHead> section = std::move(stream.section_);
  // RFC 9113 §8.1, §8.5: a trailer section ends its stream, and tunnels have no trailers.
  if (!is_block_end_ || stream.is_tunnel_) {
    return reset_for_error(stream, ErrorCode::ProtocolError,
                           Error(Errc::MalformedField, "response"));
  }
  if (section->builder.finish_trailers(section->head) != HeadStatus::Fine) {
    return reset_for_error(stream, is_server() ? ErrorCode::EnhanceYourCalm : ErrorCode::Cancel,
                           Error(Errc::TrailerTooLong, "response"));
  }
  end_content(stream, std::move(section));
}

/// Handles END_STREAM from the peer.
void Connection::end_content(Stream& stream, std::unique_ptr<ReceivedHead> trailers) {
  if (stream.framed_bytes_ < stream.length_bytes_.value_or(0)) {
    return reset_for_error(stream, ErrorCode::ProtocolError,
                           Error(Errc::TruncatedBody, "response"));
  }
  const bool is_over = stream.state_ == Stream::State::HalfClosedLocal;
  stream.state_ = Stream::State::HalfClosedRemote;
  stream.has_received_all_ = true;
  if (!is_server()) guard_.responded();
  if (is_over) close_stream(stream, ErrorCode::NoError);
  if (!stream.is_released_) events_.on_end(stream, std::move(trailers));
}

}  // namespace skua::h2
