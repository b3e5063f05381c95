// SPDX-License-Identifier: MIT
// The connection and its requests; the responses are in client_responses.cpp. What breaks the rules
// of a message resets its stream; what breaks those of the connection ends all of them.
#if defined(SKUA_HAS_HTTP2)

#include "h2/client_streams.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "h2/callbacks.hpp"

namespace skua::h2 {
namespace {

ClientStreamState& state_of(ClientStream& stream) noexcept {
  return static_cast<ClientStreamState&>(stream);
}

}  // namespace

ClientStreams::ClientStreams(const ClientSessionOptions& options, ClientEvents& events,
                             loop::Instant now)
    : events_(events),
      most_streams_(options.streams),
      head_limits_(options.head),
      trailer_limits_(options.trailers),
      most_interim_bytes_(options.interim_bytes),
      most_interim_(options.interim_responses),
      engine_(Engine::Side::Client, static_cast<EngineUser&>(*this), options.abuse, now) {
  const std::array<nghttp2_settings_entry, 5> entries{{
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options.frame_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
       static_cast<std::uint32_t>(std::min<std::size_t>(options.head.list_bytes, 0xffff'ffffU))},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  engine_.submit_settings(entries, options.connection_window_bytes);
}

ClientStreams::~ClientStreams() = default;

// The connection ----------------------------------------------------------------------------------

void ClientStreams::receive(std::string_view input, loop::Instant now) {
  engine_.receive(input, now);
}

std::size_t ClientStreams::write(ClientOutput& output, std::size_t most_bytes) {
  output_ = &output;
  const std::size_t written = engine_.write(most_bytes);
  output_ = nullptr;
  if (engine_.is_over()) lose(connection_error());
  return written;
}

Error ClientStreams::connection_error() const noexcept {
  if (error_.code() != Errc::None) return error_;
  if (failure() == nullptr) return Error(Errc::Closed, "HTTP/2");
  if (failure()->code == ErrorCode::InternalError) return Error(Errc::OutOfMemory, "HTTP/2");
  if (engine_.is_abused()) return Error(Errc::MalformedFrame, engine_.guard().reason());
  return Error(Errc::MalformedFrame, context_of(failure()->code));
}

void ClientStreams::shut_down() {
  if (!engine_.takes_input() || is_shut_down_) return;
  is_shut_down_ = true;
  nghttp2_submit_goaway(engine_.session(), NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
}

void ClientStreams::lose(Error error) { fail_all(error, false); }

void ClientStreams::fail_all(Error error, bool is_unsent_only) {
  // Consumers may release streams meanwhile: then the last, which was seen, moves forward.
  for (std::size_t i = streams_.size(); i-- > 0;) {
    if (i >= streams_.size()) continue;
    ClientStreamState& stream = *streams_[i];
    if (is_unsent_only && stream.is_sent) continue;
    if (is_unsent_only) submit_reset(stream, ErrorCode::Cancel);
    fail(stream, {.error = error, .is_unprocessed = !stream.is_sent});
  }
}

std::size_t ClientStreams::room() const noexcept {
  nghttp2_session* const session = engine_.session();
  const bool is_allowed = engine_.takes_input() && !is_shut_down_ && !engine_.is_over() &&
                          nghttp2_session_check_request_allowed(session) != 0;
  if (!is_allowed) return 0;
  const std::size_t most = std::min<std::size_t>(
      nghttp2_session_get_remote_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS),
      most_streams_);
  // A reset goes out before what is begun after it.
  const auto count = static_cast<std::size_t>(std::ranges::count_if(
      streams_, [](const auto& stream) { return !stream->is_reset && !stream->is_closed; }));
  return most - std::min(most, count);
}

bool ClientStreams::is_late(std::uint32_t stream_id) const noexcept {
  const ClientStreamState* const stream = find(stream_id);
  return stream == nullptr || is_deaf(*stream) || stream->has_peer_reset;
}

ErrorCode ClientStreams::check(const FrameHead& frame) {
  if (!has_settings_ && frame.type != FrameType::Settings) {
    // RFC 9113 §3.4. An answer of HTTP/1 looks like this, too.
    error_ = Error(Errc::UnsupportedVersion, "the server does not speak HTTP/2");
    return ErrorCode::ProtocolError;
  }
  has_settings_ = true;
  // RFC 9113 §8.4: we have said that we take none, before anything that could be pushed for.
  if (frame.type == FrameType::PushPromise) return ErrorCode::ProtocolError;
  // RFC 9113 §6.3. nghttp2 ignores these frames.
  if (frame.type == FrameType::Priority && frame.stream_id == 0) return ErrorCode::ProtocolError;
  ClientStreamState* const stream = find(frame.stream_id);
  if (stream == nullptr) return ErrorCode::NoError;
  if (frame.type == FrameType::RstStream) stream->has_peer_reset = true;
  if (frame.type == FrameType::Data) {
    const std::uint32_t padding = frame.has(frame_flags::padded) ? frame.first + 1 : 0;
    stream->framed_bytes += frame.length_bytes - std::min(frame.length_bytes, padding);
  }
  return ErrorCode::NoError;
}

// Requests ----------------------------------------------------------------------------------------

ClientStream* ClientStreams::request(const RequestLines& head, bool has_body, void* context) {
  if (room() == 0) return nullptr;
  auto stream = std::make_unique<ClientStreamState>();
  stream->context = context;
  stream->is_head_request = head.method == Method::Head;
  stream->place = streams_.size();
  NvList& fields = engine_.fields();
  fields.assign(head);
  if (head.shown != nullptr) fields.append_lines(*head.shown);
  const nghttp2_data_provider provider = Callbacks::provider();
  streams_.reserve(streams_.size() + 1);
  const std::int32_t id =
      nghttp2_submit_request(engine_.session(), nullptr, fields.data(), fields.size(),
                             has_body ? &provider : nullptr, stream.get());
  if (id == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  if (id < 0) return nullptr;
  stream->id_ = static_cast<std::uint32_t>(id);
  streams_.push_back(std::move(stream));
  return streams_.back().get();
}

void ClientStreams::resume_body(ClientStream& stream) {
  ClientStreamState& state = state_of(stream);
  if (!state.is_deferred || state.is_closed) return;
  state.is_deferred = false;
  nghttp2_session_resume_data(engine_.session(), id_of(stream));
}

ssize_t ClientStreams::read_body(std::uint32_t id, std::size_t most_bytes, std::uint32_t& flags) {
  ClientStreamState* const stream = find(id);
  if (stream == nullptr || stream->is_released) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const BodyRead read = events_.read_body(*stream, most_bytes);
  SKUA_ASSERT(read.bytes <= most_bytes);
  if (stream->is_reset) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // since it was asked
  if (read.state == BodyRead::State::Failed) {
    stream->is_reset = true;
    stream->error = Error(Errc::Cancelled, "request content");
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  if (read.state == BodyRead::State::More && read.bytes == 0) {
    stream->is_deferred = true;
    return NGHTTP2_ERR_DEFERRED;
  }
  return engine_.pass_on(id, read, most_bytes, flags);
}

int ClientStreams::on_sent(const nghttp2_frame& frame) {
  ClientStreamState* const stream = frame.hd.stream_id != 0 ? find(id_of(frame)) : nullptr;
  if (stream == nullptr) return 0;
  const bool may_end = frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA;
  if (may_end && ends_stream(frame)) stream->is_all_sent = true;
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS: stream->is_sent = true; break;
    case NGHTTP2_RST_STREAM:
      // Of some resets that nghttp2 sends we are told here only: content of another length than was
      // announced.
      if (!stream->is_reset) engine_.charge(Abuse::ProvokedReset);
      stream->is_reset = true;
      break;
    default: break;
  }
  return 0;
}

int ClientStreams::on_not_sent(const nghttp2_frame& frame, int error) {
  ClientStreamState* const stream = frame.hd.stream_id != 0 ? find(id_of(frame)) : nullptr;
  if (stream == nullptr || error != NGHTTP2_ERR_FRAME_SIZE_ERROR) return 0;
  stream->error = Error(Errc::HeadTooLong, "request");
  stream->is_reset = true;
  return 0;
}

}  // namespace skua::h2

#endif
