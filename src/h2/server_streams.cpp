// SPDX-License-Identifier: MIT
// The streams of a connection: requests out of frames, responses into them. A StreamState is there
// from the first HEADERS until both nghttp2 and the consumer are done with it, and only then a new
// stream may take its place.
#if defined(SKUA_HAS_HTTP2)

#include <utility>

#include "h2/callbacks.hpp"
#include "h2/server_session.hpp"

namespace skua::h2 {
namespace {

constexpr std::size_t most_idle_streams = 32;
constexpr http::Head no_trailers{};

StreamState& state_of(Stream& stream) noexcept { return static_cast<StreamState&>(stream); }

std::int32_t id_of(const Stream& stream) noexcept { return static_cast<std::int32_t>(stream.id()); }

}  // namespace

void StreamState::open(std::uint32_t id, std::size_t its_place) noexcept {
  id_ = id;
  place = its_place;
  context = nullptr;
  request_ = {};
  trailers.reset();
  trailer_head = {};
  has_received_all_ = has_response_ = is_closed_ = false;
  is_told = is_released = is_resetting = is_reset_counted = false;
  is_sending = is_deferred = is_tunnel = false;
}

// Which there are ---------------------------------------------------------------------------------

StreamState* ServerSession::find(std::uint32_t id) const noexcept {
  return static_cast<StreamState*>(engine_.find(id));
}

StreamState& ServerSession::open_stream(std::uint32_t id) {
  std::unique_ptr<StreamState> stream;
  if (idle_.empty()) {
    stream = std::make_unique<StreamState>();
    idle_.reserve(
        std::min(streams_.size() + 1, most_idle_streams));  // close_stream() must not fail
  } else {
    stream = std::move(idle_.back());
    idle_.pop_back();
  }
  stream->open(id, streams_.size());
  streams_.push_back(std::move(stream));
  return *streams_.back();
}

void ServerSession::close_stream(StreamState& stream) noexcept {
  const std::size_t place = stream.place;
  std::unique_ptr<StreamState> gone = std::exchange(streams_[place], std::move(streams_.back()));
  streams_.pop_back();
  if (place != streams_.size()) streams_[place]->place = place;
  if (gone == nullptr || idle_.size() == most_idle_streams) return;
  gone->head.start(HeadBuilder::Kind::Request, head_limits_);  // lets go of much memory
  idle_.push_back(std::move(gone));
}

// Requests ----------------------------------------------------------------------------------------

int ServerSession::on_begin_headers(const nghttp2_frame& frame) {
  if (!engine_.takes_input()) return NGHTTP2_ERR_CALLBACK_FAILURE;  // ended from inside an event
  const std::uint32_t id = id_of(frame);
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
    highest_id_ = id;
    // Those that the peer has reset count as long as somebody works on them.
    if (streams_.size() >= most_streams_) return refuse(id), 0;
    StreamState& stream = open_stream(id);
    stream.head.start(HeadBuilder::Kind::Request, head_limits_);
    nghttp2_session_set_stream_user_data(engine_.session(), frame.hd.stream_id, &stream);
  } else if (StreamState* const stream = find(id); stream != nullptr && !is_deaf(*stream)) {
    stream->trailers = std::make_unique<HeadBuilder>();
    stream->trailers->start(HeadBuilder::Kind::Trailers, trailer_limits_);
  }
  return 0;
}

void ServerSession::refuse(std::uint32_t id) {
  engine_.charge(Abuse::RefusedStream);
  nghttp2_submit_rst_stream(engine_.session(), NGHTTP2_FLAG_NONE, static_cast<std::int32_t>(id),
                            NGHTTP2_REFUSED_STREAM);
}

int ServerSession::on_header(const nghttp2_frame& frame, std::string_view name,
                             std::string_view value) {
  StreamState* const stream = find(id_of(frame));
  if (stream == nullptr || stream->is_resetting) return 0;
  const bool is_request = frame.headers.cat == NGHTTP2_HCAT_REQUEST;
  if (!is_request && stream->trailers == nullptr) return 0;
  HeadBuilder& head = is_request ? stream->head : *stream->trailers;
  switch (head.add(name, value)) {
    case HeadVerdict::Fine: break;
    case HeadVerdict::Malformed: punish(*stream, ErrorCode::ProtocolError); break;
    case HeadVerdict::TooLong:
      // One octet may stand for 4 KiB of the dynamic table: the rest is not even decoded.
      engine_.terminate(ErrorCode::EnhanceYourCalm, "a header section that is far too long");
      return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  return 0;
}

int ServerSession::on_frame(const nghttp2_frame& frame) {
  StreamState* const stream = frame.hd.stream_id != 0 ? find(id_of(frame)) : nullptr;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
      if (stream == nullptr || stream->is_resetting) break;
      if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
        on_request_head(*stream, ends_stream(frame));
      } else {
        on_trailers(*stream);
      }
      break;
    case NGHTTP2_DATA:
      if (stream == nullptr || !ends_stream(frame)) break;
      stream->has_received_all_ = true;
      if (!is_deaf(*stream)) events_.on_end(*stream, no_trailers);
      break;
    case NGHTTP2_SETTINGS:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0) settings_pending_since_.reset();
      break;
    case NGHTTP2_GOAWAY: events_.on_goaway(static_cast<ErrorCode>(frame.goaway.error_code)); break;
    default: break;
  }
  return 0;
}

void ServerSession::on_request_head(StreamState& stream, bool is_end) {
  RequestHead& request = stream.request_;
  stream.has_received_all_ = is_end;
  if (stream.head.finish_request(request) == HeadVerdict::Malformed) {
    return punish(stream, ErrorCode::ProtocolError);
  }
  request.expect_continue = request.expect_continue && !is_end;  // nobody waits to send nothing
  stream.is_told = true;
  events_.on_request(stream, is_end);
}

void ServerSession::on_trailers(StreamState& stream) {
  stream.has_received_all_ = true;  // nghttp2 has seen to that
  if (stream.is_tunnel) return punish(stream, ErrorCode::ProtocolError);  // RFC 9113 §8.5
  if (stream.trailers == nullptr || is_deaf(stream)) return;
  if (stream.trailers->finish_trailers(stream.trailer_head) != HeadVerdict::Fine) {
    return punish(stream, ErrorCode::EnhanceYourCalm);
  }
  events_.on_end(stream, stream.trailer_head);
}

int ServerSession::on_data(std::uint32_t id, std::string_view data) {
  if (!engine_.takes_input()) return NGHTTP2_ERR_CALLBACK_FAILURE;
  nghttp2_session_consume_connection(engine_.session(), data.size());
  StreamState* const stream = find(id);
  if (stream != nullptr && !is_deaf(*stream)) events_.on_data(*stream, data);
  return 0;
}

void ServerSession::consume(Stream& stream, std::size_t bytes) {
  if (stream.is_closed()) return;
  nghttp2_session_consume_stream(engine_.session(), id_of(stream), bytes);
}

// Responses ---------------------------------------------------------------------------------------

void ServerSession::respond(Stream& stream, const ResponseHead& head, bool has_body) {
  StreamState& state = state_of(stream);
  if (state.is_closed_ || state.is_resetting) return;
  SKUA_ASSERT(!state.has_response_);
  state.has_response_ = true;
  state.is_sending = has_body;
  state.is_tunnel = state.request_.head.method == Method::Connect && code(head.status) / 100 == 2;
  engine_.fields().assign(head);
  const nghttp2_data_provider provider = Callbacks::provider();
  const int error =
      nghttp2_submit_response(engine_.session(), id_of(stream), engine_.fields().data(),
                              engine_.fields().size(), has_body ? &provider : nullptr);
  if (error != 0) submit_reset(state, ErrorCode::InternalError);
}

void ServerSession::inform(Stream& stream, Status status, std::string_view fields) {
  const StreamState& state = state_of(stream);
  if (state.is_closed_ || state.is_resetting || state.has_response_) return;
  // RFC 9113 §8.6: there is no 101.
  SKUA_ASSERT(code(status) / 100 == 1 && status != Status::SwitchingProtocols);
  engine_.fields().assign(ResponseHead{.status = status, .fields = fields});
  nghttp2_submit_headers(engine_.session(), NGHTTP2_FLAG_NONE, id_of(stream), nullptr,
                         engine_.fields().data(), engine_.fields().size(), nullptr);
}

void ServerSession::resume_body(Stream& stream) {
  StreamState& state = state_of(stream);
  if (!state.is_deferred || state.is_closed_) return;
  state.is_deferred = false;
  nghttp2_session_resume_data(engine_.session(), id_of(stream));
}

ssize_t ServerSession::read_body(std::uint32_t id, std::size_t most_bytes, std::uint32_t& flags) {
  StreamState* const stream = find(id);
  if (stream == nullptr || stream->is_released) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const BodyRead read = events_.read_body(*stream, most_bytes);
  SKUA_ASSERT(read.bytes <= most_bytes);
  if (stream->is_resetting) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // since it was asked
  if (read.state == BodyRead::State::Failed) {
    stream->is_resetting = stream->is_reset_counted = true;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  if (read.state == BodyRead::State::More && read.bytes == 0) {
    stream->is_deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  if (read.state == BodyRead::State::End) stream->is_sending = false;
  return engine_.pass_on(id, read, most_bytes, flags);
}

int ServerSession::on_sent(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_DATA:
    case NGHTTP2_HEADERS:
      if (ends_stream(frame)) {
        if (StreamState* const stream = find(id_of(frame))) on_response_sent(*stream);
      }
      break;
    case NGHTTP2_RST_STREAM: on_reset_sent(frame); break;
    default: break;
  }
  return 0;
}

void ServerSession::on_response_sent(StreamState& stream) {
  engine_.guard().responded();
  // A tunnel's other half may go on: RFC 9113 §8.5.
  if (!stream.has_received_all_ && !stream.is_tunnel && !is_deaf(stream)) {
    events_.on_answered_early(stream);
  }
}

// A frame that nghttp2 would not send: a head longer than it takes.
int ServerSession::on_not_sent(const nghttp2_frame& frame, int) {
  if (frame.hd.type != NGHTTP2_HEADERS) return 0;
  StreamState* const stream = find(id_of(frame));
  if (stream != nullptr) submit_reset(*stream, ErrorCode::InternalError);
  return 0;
}

// The end of a stream -----------------------------------------------------------------------------

int ServerSession::on_invalid_frame(const nghttp2_frame& frame, int error) {
  const bool is_refused = error == NGHTTP2_ERR_REFUSED_STREAM;
  engine_.charge(is_refused ? Abuse::RefusedStream : Abuse::ProvokedReset);
  if (frame.hd.stream_id == 0) return 0;
  if (StreamState* const stream = find(id_of(frame))) {
    stream->is_resetting = stream->is_reset_counted = true;
  }
  return 0;
}

/// A reset that we did not ask for, of which on_invalid_frame was not told: content that does not
/// agree with its length.
void ServerSession::on_reset_sent(const nghttp2_frame& frame) {
  const StreamState* const stream = find(id_of(frame));
  if (stream != nullptr && !stream->is_reset_counted) engine_.charge(Abuse::ProvokedReset);
}

void ServerSession::submit_reset(StreamState& stream, ErrorCode code) {
  if (stream.is_closed_ || stream.is_resetting) return;
  stream.is_resetting = stream.is_reset_counted = true;
  nghttp2_submit_rst_stream(engine_.session(), NGHTTP2_FLAG_NONE, id_of(stream),
                            static_cast<std::uint32_t>(code));
}

void ServerSession::punish(StreamState& stream, ErrorCode code) {
  engine_.charge(Abuse::ProvokedReset);
  submit_reset(stream, code);
}

void ServerSession::reset(Stream& stream, ErrorCode code) { submit_reset(state_of(stream), code); }

int ServerSession::on_close(std::uint32_t id, ErrorCode code) {
  StreamState* const stream = find(id);
  if (stream == nullptr) return 0;  // it was refused
  nghttp2_session_set_stream_user_data(engine_.session(), static_cast<std::int32_t>(id), nullptr);
  stream->is_closed_ = true;
  stream->is_sending = false;
  if (!stream->is_told || stream->is_released) {
    close_stream(*stream);
  } else {
    events_.on_closed(*stream, code);
  }
  return 0;
}

void ServerSession::release(Stream& stream) {
  StreamState& state = state_of(stream);
  SKUA_ASSERT(!state.is_released);
  if (state.is_closed_) return close_stream(state);
  state.is_released = true;
  submit_reset(state, ErrorCode::Cancel);
}

bool ServerSession::is_blocked_by_window(const Stream& stream) const noexcept {
  const auto& state = static_cast<const StreamState&>(stream);
  if (!state.is_sending || state.is_deferred || state.is_closed_) return false;
  return nghttp2_session_get_remote_window_size(engine_.session()) <= 0 ||
         nghttp2_session_get_stream_remote_window_size(engine_.session(), id_of(stream)) <= 0;
}

bool ServerSession::is_blocked_by_window() const noexcept {
  for (const std::unique_ptr<StreamState>& stream : streams_) {
    if (is_blocked_by_window(*stream)) return true;
  }
  return false;
}

}  // namespace skua::h2

#endif
