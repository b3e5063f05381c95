// SPDX-License-Identifier: MIT
// Responses: from frames to events, and every way in which a stream can end.
#if defined(SKUA_HAS_HTTP2)

#include <utility>

#include "h2/client_streams.hpp"
#include "skua/status.hpp"

namespace skua::h2 {
// Responses ---------------------------------------------------------------------------------------

int ClientStreams::on_begin_headers(const nghttp2_frame& frame) {
  if (!engine_.takes_input()) return NGHTTP2_ERR_CALLBACK_FAILURE;  // ended from inside an event
  ClientStreamState* const stream = find(id_of(frame));
  if (stream == nullptr || is_deaf(*stream)) return 0;
  stream->has_begun = true;
  stream->section = std::make_unique<ReceivedHead>();
  if (stream->has_head) {
    stream->section->builder.start(HeadBuilder::Kind::Trailers, trailer_limits_);
  } else {
    stream->section->builder.start(HeadBuilder::Kind::Response, head_limits_);
  }
  return 0;
}

int ClientStreams::on_header(const nghttp2_frame& frame, std::string_view name,
                             std::string_view value) {
  ClientStreamState* const stream = find(id_of(frame));
  if (stream == nullptr || stream->section == nullptr || is_deaf(*stream)) return 0;
  switch (stream->section->builder.add(name, value)) {
    case HeadVerdict::Fine: break;
    case HeadVerdict::Malformed:
      punish(*stream, Error(Errc::MalformedField, "response"), ErrorCode::ProtocolError);
      break;
    case HeadVerdict::TooLong:
      // One octet may stand for 4 KiB of the dynamic table: the rest is not even decoded.
      error_ = Error(stream->has_head ? Errc::TrailerTooLong : Errc::HeadTooLong, "response");
      engine_.terminate(ErrorCode::EnhanceYourCalm, "a header section that is far too long");
      return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  return 0;
}

int ClientStreams::on_frame(const nghttp2_frame& frame) {
  ClientStreamState* const stream = frame.hd.stream_id != 0 ? find(id_of(frame)) : nullptr;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      if (stream == nullptr || stream->section == nullptr || is_deaf(*stream)) break;
      if (stream->has_head) {
        on_trailers(*stream);
      } else {
        on_response(*stream, ends_stream(frame));
      }
      break;
    case NGHTTP2_DATA:
      if (stream != nullptr && ends_stream(frame) && !is_deaf(*stream)) finish(*stream, nullptr);
      break;
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) == 0) events_.on_room();
      break;
    case NGHTTP2_GOAWAY:
      events_.on_goaway(static_cast<ErrorCode>(frame.goaway.error_code));
      // nghttp2 would hold them back for as long as the server allows no more at once.
      fail_all(Error(Errc::Closed, "GOAWAY"), true);
      break;
    default: break;
  }
  return 0;
}

void ClientStreams::on_response(ClientStreamState& stream, bool is_end) {
  ReceivedHead& section = *stream.section;
  if (section.builder.finish_response(section.head) == HeadVerdict::Malformed) {
    return punish(stream, Error(Errc::MalformedField, "response"), ErrorCode::ProtocolError);
  }
  if (const Errc error = section.builder.error(); error != Errc::None) {
    return punish(stream, Error(error, "response"), ErrorCode::Cancel);
  }
  if (section.head.status < 200) return on_interim(stream);
  stream.has_head = true;
  keep_length(stream, section.head);
  events_.on_head(stream, std::move(stream.section));
  if (is_end && !is_deaf(stream)) finish(stream, nullptr);
}

void ClientStreams::on_interim(ClientStreamState& stream) {
  if (stream.interim_count == most_interim_) {
    return punish(stream, Error(Errc::TooManyInterimResponses), ErrorCode::EnhanceYourCalm);
  }
  ++stream.interim_count;
  stream.interim_bytes += stream.section->head.size_bytes;
  if (stream.interim_bytes > most_interim_bytes_) {
    return punish(stream, Error(Errc::HeadTooLong, "interim responses"), ErrorCode::Cancel);
  }
  events_.on_head(stream, std::move(stream.section));
}

void ClientStreams::on_trailers(ClientStreamState& stream) {
  std::unique_ptr<ReceivedHead> section = std::move(stream.section);
  if (section->builder.finish_trailers(section->head) != HeadVerdict::Fine) {
    return punish(stream, Error(Errc::TrailerTooLong, "response"), ErrorCode::Cancel);
  }
  finish(stream, std::move(section));
}

int ClientStreams::on_data(std::uint32_t id, std::string_view data) {
  if (!engine_.takes_input()) return NGHTTP2_ERR_CALLBACK_FAILURE;
  nghttp2_session_consume_connection(engine_.session(), data.size());
  ClientStreamState* const stream = find(id);
  if (stream == nullptr || is_deaf(*stream)) return 0;
  // What comes before the head nghttp2 refuses.
  if (stream->has_head) events_.on_data(*stream, data);
  return 0;
}

void ClientStreams::finish(ClientStreamState& stream, std::unique_ptr<ReceivedHead> trailers) {
  stream.has_received_all = true;
  engine_.guard().responded();
  events_.on_end(stream, std::move(trailers));
}

void ClientStreams::consume(ClientStream& stream, std::size_t bytes) {
  if (static_cast<ClientStreamState&>(stream).is_closed) return;
  nghttp2_session_consume_stream(engine_.session(), id_of(stream), bytes);
}

// The end of a stream -----------------------------------------------------------------------------

int ClientStreams::on_invalid_frame(const nghttp2_frame& frame, int) {
  engine_.charge(Abuse::ProvokedReset);
  ClientStreamState* const stream = frame.hd.stream_id != 0 ? find(id_of(frame)) : nullptr;
  if (stream == nullptr || stream->is_reset) return 0;
  stream->is_reset = true;
  if (frame.hd.type != NGHTTP2_HEADERS) {
    stream->error = Error(Errc::MalformedFrame, "HTTP/2 stream");
    return 0;
  }
  // A head with a length and nothing behind it was not told as a head.
  http::Head head;
  if (stream->section != nullptr && !stream->has_head &&
      stream->section->builder.finish_response(head) == HeadVerdict::Fine) {
    keep_length(*stream, head);
  }
  const bool is_short =
      ends_stream(frame) && stream->framed_bytes < stream->length_bytes.value_or(0);
  stream->error = Error(is_short ? Errc::TruncatedBody : Errc::MalformedField, "response");
  return 0;
}

/// RFC 9110 §8.6: the length of what would have been sent is not that of what is.
void ClientStreams::keep_length(ClientStreamState& stream, const http::Head& head) noexcept {
  const bool has_content = !stream.is_head_request && head.status != code(Status::NoContent) &&
                           head.status != code(Status::NotModified);
  stream.length_bytes = has_content ? content_length(head) : std::nullopt;
}

void ClientStreams::submit_reset(ClientStreamState& stream, ErrorCode code) noexcept {
  if (stream.is_closed || stream.is_reset) return;
  stream.is_reset = true;
  nghttp2_submit_rst_stream(engine_.session(), NGHTTP2_FLAG_NONE, id_of(stream),
                            static_cast<std::uint32_t>(code));
}

void ClientStreams::punish(ClientStreamState& stream, Error error, ErrorCode code) {
  engine_.charge(Abuse::ProvokedReset);
  submit_reset(stream, code);
  fail(stream, {.error = error});
}

void ClientStreams::fail(ClientStreamState& stream, const StreamFailure& failure) {
  if (stream.is_released || stream.has_received_all) return;
  stream.is_released = true;
  StreamFailure told = failure;
  told.has_begun = stream.has_begun;
  events_.on_failure(stream, told);
}

StreamFailure ClientStreams::failure_of(const ClientStreamState& stream, ErrorCode code) const {
  if (stream.error.code() != Errc::None) return {.error = stream.error};
  if (stream.is_reset && !stream.has_head) {
    return {.error = Error(Errc::MalformedFrame, "content before its head")};
  }
  if (stream.is_reset) {
    const bool is_long = stream.framed_bytes > stream.length_bytes.value_or(0);
    return {.error = Error(is_long ? Errc::BodyTooLong : Errc::TruncatedBody, "response")};
  }
  // RFC 9113 §8.7; nghttp2 says the same of streams above the last of a GOAWAY, and of those that
  // it did not send.
  if (code == ErrorCode::RefusedStream) {
    const bool is_refused =
        stream.is_sent && nghttp2_session_check_request_allowed(engine_.session());
    return {
        .error = is_refused ? Error(Errc::Reset, context_of(code)) : Error(Errc::Closed, "GOAWAY"),
        .is_unprocessed = !stream.has_begun};
  }
  if (code == ErrorCode::Http11Required) {
    return {.error = Error(Errc::UnsupportedVersion, context_of(code)), .is_unprocessed = true};
  }
  return {.error = Error(Errc::Reset, context_of(code))};
}

int ClientStreams::on_close(std::uint32_t id, ErrorCode code) {
  ClientStreamState* const stream = find(id);
  if (stream == nullptr) return 0;
  nghttp2_session_set_stream_user_data(engine_.session(), static_cast<std::int32_t>(id), nullptr);
  stream->is_closed = true;
  fail(*stream, failure_of(*stream, code));
  if (stream->is_released) remove(*stream);
  return 0;
}

void ClientStreams::release(ClientStream& stream) noexcept {
  ClientStreamState& state = static_cast<ClientStreamState&>(stream);
  SKUA_ASSERT(!state.is_released);
  state.is_released = true;
  if (state.is_closed) return remove(state);
  // From inside on_end(): nghttp2 is about to close it.
  if (state.has_received_all && state.is_all_sent) return;
  submit_reset(state, ErrorCode::Cancel);
}

void ClientStreams::remove(ClientStreamState& stream) noexcept {
  const std::size_t place = stream.place;
  std::swap(streams_[place], streams_.back());
  streams_[place]->place = place;
  streams_.pop_back();
  events_.on_room();
}

}  // namespace skua::h2

#endif
