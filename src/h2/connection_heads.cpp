// SPDX-License-Identifier: MIT
// Header blocks: from fragments to heads, and what follows from them. Every block is decoded, also
// one that nobody wants: the next refer to its fields.
#include <algorithm>
#include <utility>

#include "h2/connection.hpp"

namespace skua::h2 {
namespace {

constexpr std::size_t first_final = 200;

}  // namespace

void Connection::on_headers(std::string_view payload) {
  std::size_t pad_bytes = 0;
  if (frame_.has(frame_flags::padded)) {
    if (payload.empty()) return terminate(ErrorCode::FrameSizeError, "a frame of the wrong size");
    pad_bytes = static_cast<unsigned char>(payload.front());
    payload.remove_prefix(1);
  }
  is_self_dependent_ = false;
  if (frame_.has(frame_flags::priority)) {
    if (payload.size() < priority_bytes) {
      return terminate(ErrorCode::FrameSizeError, "a frame of the wrong size");
    }
    is_self_dependent_ = (read_number(payload.data()) & 0x7fff'ffffU) == frame_.stream_id;
    payload.remove_prefix(priority_bytes);
  }
  if (pad_bytes > payload.size()) {
    return terminate(ErrorCode::ProtocolError, "more padding than there is frame");
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
      return terminate(ErrorCode::StreamClosed, "a head on a stream that is over");
    }
    return begin_section(*stream);
  }
  if (is_ignored(id)) return;
  if (is_server() && id % 2 == 1 && id > highest_id_) return begin_request();
  if (is_idle(id))
    return terminate(ErrorCode::ProtocolError, "a head on a stream that was not begun");
  if (was_reset_by_us(id)) {
    charge(Abuse::LateFrame);
    if (is_block_end_) forget_reset(id);
    return;
  }
  // RFC 9113 §5.1.1: a stream that was skipped cannot be begun any more.
  if (is_server() && !was_begun(id)) {
    return terminate(ErrorCode::ProtocolError, "a stream id that was skipped");
  }
  terminate(ErrorCode::StreamClosed, "a head on a stream that is over");
}

void Connection::begin_request() {
  const std::uint32_t by = (block_id_ - highest_id_) / 2;
  begun_ = highest_id_ == 0 || by >= 64 ? 1 : begun_ << by | 1U;
  highest_id_ = block_id_;
  // Those that the peer has reset count as long as somebody works on them.
  if (streams_.size() >= options_.streams) {
    charge(Abuse::RefusedStream);
    if (!is_block_end_) remember_reset(block_id_);
    return write_reset(block_id_, ErrorCode::RefusedStream);
  }
  Stream& stream = open_stream(block_id_);
  stream.head_.start(HeadBuilder::Kind::Request, options_.head);
  block_ = Block::Request;
}

/// What is not a request: a response, or trailers.
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
  const std::string joined = block_rest_.empty() ? std::string() : block_rest_.append(fragment);
  const std::string_view block = joined.empty() ? fragment : std::string_view(joined);
  std::size_t taken = 0;
  const HpackDecoder::Result result = decoder_.decode(
      block, is_last, taken, [&](const DecodedField& field) { return take_field(field, builder); });
  if (result == HpackDecoder::Result::Malformed) {
    return terminate(ErrorCode::CompressionError, "a header block that cannot be decoded");
  }
  if (result == HpackDecoder::Result::Stopped) return;
  if (is_last) {
    std::string().swap(block_rest_);
    return end_block();
  }
  block_rest_.assign(block.substr(taken));
}

/// False ends the connection.
bool Connection::take_field(const DecodedField& field, HeadBuilder* builder) {
  if (builder == nullptr) return true;
  switch (builder->add(field)) {
    case HeadVerdict::Fine: return true;
    case HeadVerdict::Malformed: is_block_malformed_ = true; return true;
    case HeadVerdict::TooLong: break;
  }
  // One octet may stand for 4 KiB of the dynamic table: the rest is not even decoded.
  error_ = Error(block_ == Block::Trailers ? Errc::TrailerTooLong : Errc::HeadTooLong, "response");
  terminate(ErrorCode::EnhanceYourCalm, "a header section that is far too long");
  return false;
}

void Connection::end_block() {
  const Block block = std::exchange(block_, Block::None);
  Stream* const stream = block == Block::Discarded ? nullptr : find_open(block_id_);
  if (stream == nullptr) return;
  if (is_block_malformed_) {
    stream->section_.reset();
    return punish(*stream, ErrorCode::ProtocolError, Error(Errc::MalformedField, "response"));
  }
  switch (block) {
    case Block::Request: return on_request_head(*stream);
    case Block::Response: return on_response_head(*stream);
    case Block::Trailers: return on_trailers(*stream);
    case Block::None:
    case Block::Discarded: return;
  }
}

// A server's --------------------------------------------------------------------------------------

void Connection::on_request_head(Stream& stream) {
  RequestHead& request = stream.request_;
  const bool is_end = is_block_end_;
  const bool is_malformed =
      stream.head_.finish_request(request, workspace_.hosts) == HeadVerdict::Malformed ||
      (!request.protocol.empty() && !options_.allows_extended_connect) ||
      (is_end && request.error == Errc::None && request.length_bytes.value_or(0) != 0);
  if (is_malformed) return punish(stream, ErrorCode::ProtocolError, Errc::MalformedField);
  request.expect_continue = request.expect_continue && !is_end;  // nobody waits to send nothing
  if (request.head.method != Method::Connect) stream.length_bytes_ = request.length_bytes;
  stream.priority_ = request.priority;
  stream.is_told_ = true;
  if (is_end) {
    stream.has_received_all_ = true;
    stream.state_ = Stream::State::HalfClosedRemote;
  }
  events_.on_request(stream, is_end);
}

// A client's --------------------------------------------------------------------------------------

void Connection::on_response_head(Stream& stream) {
  ReceivedHead& section = *stream.section_;
  if (section.builder.finish_response(section.head) == HeadVerdict::Malformed) {
    return punish(stream, ErrorCode::ProtocolError, Error(Errc::MalformedField, "response"));
  }
  if (const Errc error = section.builder.error(); error != Errc::None) {
    return punish(stream, ErrorCode::Cancel, Error(error, "response"));
  }
  const http::Head& head = section.head;
  if (head.status < first_final) return on_interim_head(stream);
  stream.has_response_ = true;
  // RFC 9110 §8.6: the length of what would have been sent is not that of what is.
  const bool has_content = !stream.is_head_request_ && head.status != code(Status::NoContent) &&
                           head.status != code(Status::NotModified);
  stream.length_bytes_ = has_content ? content_length(head) : std::optional<std::uint64_t>(0);
  if (is_block_end_ && stream.length_bytes_.value_or(0) != 0) {
    return punish(stream, ErrorCode::ProtocolError, Error(Errc::TruncatedBody, "response"));
  }
  events_.on_response(stream, std::move(stream.section_));
  if (is_block_end_ && !stream.is_closed()) end_content(stream, nullptr);
}

void Connection::on_interim_head(Stream& stream) {
  if (is_block_end_) {
    return punish(stream, ErrorCode::ProtocolError, Error(Errc::MalformedField, "response"));
  }
  if (stream.interim_count_ == options_.interim_responses) {
    return punish(stream, ErrorCode::EnhanceYourCalm, Error(Errc::TooManyInterimResponses));
  }
  ++stream.interim_count_;
  stream.interim_bytes_ += stream.section_->head.size_bytes;
  if (stream.interim_bytes_ > options_.interim_bytes) {
    return punish(stream, ErrorCode::Cancel, Error(Errc::HeadTooLong, "interim responses"));
  }
  events_.on_response(stream, std::move(stream.section_));
}

// Of both -----------------------------------------------------------------------------------------

void Connection::on_trailers(Stream& stream) {
  std::unique_ptr<ReceivedHead> section = std::move(stream.section_);
  // RFC 9113 §8.1, §8.5: a trailer section ends its stream, and a tunnel has none.
  if (!is_block_end_ || stream.is_tunnel_) {
    return punish(stream, ErrorCode::ProtocolError, Error(Errc::MalformedField, "response"));
  }
  if (section->builder.finish_trailers(section->head) != HeadVerdict::Fine) {
    return punish(stream, is_server() ? ErrorCode::EnhanceYourCalm : ErrorCode::Cancel,
                  Error(Errc::TrailerTooLong, "response"));
  }
  end_content(stream, std::move(section));
}

/// The peer has said END_STREAM.
void Connection::end_content(Stream& stream, std::unique_ptr<ReceivedHead> trailers) {
  if (stream.framed_bytes_ < stream.length_bytes_.value_or(0)) {
    return punish(stream, ErrorCode::ProtocolError, Error(Errc::TruncatedBody, "response"));
  }
  const bool is_over = stream.state_ == Stream::State::HalfClosedLocal;
  stream.state_ = Stream::State::HalfClosedRemote;
  stream.has_received_all_ = true;
  if (!is_server()) guard_.responded();
  if (is_over) close_stream(stream, ErrorCode::NoError);
  if (!stream.is_released_) events_.on_end(stream, std::move(trailers));
}

}  // namespace skua::h2
