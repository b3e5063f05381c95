// SPDX-License-Identifier: MIT
// The connection: what arrives is counted by an AbuseGuard and then given to nghttp2, what nghttp2
// has to send is written until the caller has enough. The streams are in server_streams.cpp.
#if defined(SKUA_HAS_HTTP2)

#include "h2/server_session.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "h2/callbacks.hpp"
#include "h2/preface.hpp"

#if NGHTTP2_VERSION_NUM < 0x013200
#error "nghttp2 1.50 or newer is needed (RFC 9218)"
#endif

namespace skua::h2 {
namespace {

constexpr std::size_t most_response_head_bytes = 256 * 1024;
/// A window update that lets us send less than this is not worth its frame.
constexpr std::uint32_t tiny_window_bytes = 1024;

struct FreeOption {
  void operator()(nghttp2_option* option) const noexcept { nghttp2_option_del(option); }
};

/// Taken where nghttp2 does not declare its own, which is found through the type of its argument:
/// it came with 1.57, and with security updates of older versions.
[[maybe_unused]] void nghttp2_option_set_stream_reset_rate_limit(...) noexcept {}

/// Its own limits on CONTINUATION, SETTINGS and unsent acknowledgements are left as they are: a
/// second line behind the AbuseGuard.
std::unique_ptr<nghttp2_option, FreeOption> make_options() {
  nghttp2_option* raw = nullptr;
  if (nghttp2_option_new(&raw) != 0) throw std::bad_alloc();
  nghttp2_option_set_no_auto_window_update(raw, 1);
  nghttp2_option_set_builtin_recv_extension_type(raw, NGHTTP2_PRIORITY_UPDATE);
  nghttp2_option_set_no_closed_streams(raw, 1);
  // Goes by a clock of its own, and knows nothing of requests that are served.
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 40U;
  nghttp2_option_set_stream_reset_rate_limit(raw, no_limit, no_limit);
  nghttp2_option_set_max_send_header_block_length(raw, most_response_head_bytes);
  return std::unique_ptr<nghttp2_option, FreeOption>(raw);
}

ErrorCode code_for(int nghttp2_error) noexcept {
  switch (nghttp2_error) {
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC: return ErrorCode::ProtocolError;
    case NGHTTP2_ERR_NOMEM:
    case NGHTTP2_ERR_CALLBACK_FAILURE: return ErrorCode::InternalError;
    default: return ErrorCode::EnhanceYourCalm;  // a flood that nghttp2 saw
  }
}

}  // namespace

ServerSession::ServerSession(const SessionOptions& options, Events& events, loop::Instant now)
    : events_(events),
      head_limits_(options.head),
      trailer_limits_(options.trailers),
      most_streams_(options.streams),
      scan_(client_preface.size()),
      guard_(options.abuse, now),
      now_(now) {
  const nghttp2_session_callbacks* const callbacks = Callbacks::all();
  nghttp2_session* raw = nullptr;
  if (callbacks == nullptr ||
      nghttp2_session_server_new2(&raw, callbacks, this, make_options().get()) != 0) {
    throw std::bad_alloc();
  }
  nghttp2_.reset(raw);
  submit_settings(options);
}

ServerSession::~ServerSession() = default;

void ServerSession::submit_settings(const SessionOptions& options) {
  std::array<nghttp2_settings_entry, 6> entries{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.stream_window_bytes},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, options.frame_bytes},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
       static_cast<std::uint32_t>(std::min<std::size_t>(options.head.list_bytes, 0xffff'ffffU))},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
      {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
  }};
  const std::size_t count = entries.size() - (options.allows_extended_connect ? 0 : 1);
  int error = nghttp2_submit_settings(nghttp2_.get(), NGHTTP2_FLAG_NONE, entries.data(), count);
  if (error == 0) {
    error = nghttp2_session_set_local_window_size(
        nghttp2_.get(), NGHTTP2_FLAG_NONE, 0,
        static_cast<std::int32_t>(std::min(options.connection_window_bytes, 0x7fff'ffffU)));
  }
  if (error == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  SKUA_ASSERT(error == 0);  // a value that RFC 9113 §6.5.2 does not allow
  settings_pending_since_ = now_;
}

// What arrives ------------------------------------------------------------------------------------

void ServerSession::receive(std::string_view input, loop::Instant now) {
  now_ = now;
  if (takes_input()) check_frames(input);
  // Heads of frames are given to nghttp2 in one piece: versions before 1.70 take each piece of a
  // CONTINUATION's head for another CONTINUATION, of which they allow eight.
  if (!partial_head_.empty()) {
    const std::size_t missing = frame_header_bytes - partial_head_.size();
    partial_head_.append(input.substr(0, missing));
    input.remove_prefix(std::min(missing, input.size()));
    if (partial_head_.size() < frame_header_bytes) return;
    feed(partial_head_);
    partial_head_.clear();
  }
  const std::size_t whole = input.size() - std::min(scan_.partial_bytes(), input.size());
  feed(input.substr(0, whole));
  partial_head_.assign(input.substr(whole));
  if (guard_.is_over_mark()) terminate(ErrorCode::EnhanceYourCalm, "too many cheap frames");
}

void ServerSession::feed(std::string_view input) {
  if (!takes_input() || input.empty()) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const ssize_t taken = nghttp2_session_mem_recv(nghttp2_.get(), bytes, input.size());
  if (taken < 0) fail(static_cast<int>(taken));
}

/// Before nghttp2 sees them: it does not tell of what it ignores.
void ServerSession::check_frames(std::string_view input) {
  while (const FrameHead* const frame = scan_.next(input)) {
    count_frame(*frame);
    const ErrorCode error = peer_streams_.take(*frame);
    if (error != ErrorCode::NoError) {
      return terminate(error, "a frame that the state of its stream does not allow");
    }
    if (guard_.is_over_mark()) {
      return terminate(ErrorCode::EnhanceYourCalm, "too many cheap frames");
    }
  }
}

void ServerSession::count_frame(const FrameHead& frame) {
  const auto charge = [this](Abuse what) { guard_.charge(what, now_); };
  switch (frame.type) {
    case FrameType::Data: {
      const bool is_padded = frame.has(frame_flags::padded);
      const std::uint32_t padding = is_padded ? frame.first + 1 : 0;
      const bool is_empty = frame.length_bytes <= padding;
      if (is_empty && !frame.has(frame_flags::end_stream)) charge(Abuse::EmptyData);
      if (is_padded && padding > frame.length_bytes / 2) charge(Abuse::PaddedData);
      [[fallthrough]];
    }
    case FrameType::Headers: {
      // A stream that is begun by these very bytes is not known yet, and not late.
      const StreamState* const stream = find(frame.stream_id);
      const bool is_over = stream == nullptr || stream->is_closed_ || stream->is_resetting;
      if (is_over && frame.stream_id <= highest_id_) charge(Abuse::LateFrame);
      return;
    }
    case FrameType::RstStream: return charge(Abuse::PeerReset);
    case FrameType::Settings:
      if (!frame.has(frame_flags::ack)) charge(Abuse::Settings);
      return;
    case FrameType::Ping: return charge(Abuse::Ping);
    case FrameType::Priority:
    case FrameType::PriorityUpdate: return charge(Abuse::Priority);
    case FrameType::WindowUpdate:
      return charge(frame.first < tiny_window_bytes ? Abuse::TinyWindowUpdate
                                                    : Abuse::WindowUpdate);
    case FrameType::Continuation: return charge(Abuse::Continuation);
    case FrameType::PushPromise:
    case FrameType::Goaway:
      return;  // the first ends the connection, the second ends what it may do
  }
  charge(Abuse::UnknownFrame);
}

void ServerSession::fail(int nghttp2_error) {
  terminate(code_for(nghttp2_error), nghttp2_strerror(nghttp2_error));
}

// What is sent ------------------------------------------------------------------------------------

bool ServerSession::wants_write() const noexcept {
  return !is_broken_ && !is_terminated_ && nghttp2_session_want_write(nghttp2_.get()) != 0;
}

std::size_t ServerSession::write(Output& output, std::size_t most_bytes) {
  output_ = &output;
  written_bytes_ = 0;
  most_bytes_ = most_bytes;
  while (written_bytes_ < most_bytes_ && !is_broken_ && !is_terminated_) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(nghttp2_.get(), &bytes);
    if (size < 0) is_broken_ = true;
    if (size <= 0) break;
    output.append({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    written_bytes_ += static_cast<std::size_t>(size);
  }
  output_ = nullptr;
  if (guard_.is_over_mark()) terminate(ErrorCode::EnhanceYourCalm, "too many provoked resets");
  return written_bytes_;
}

int ServerSession::send_data(const nghttp2_frame& frame, std::string_view frame_head,
                             std::size_t bytes) {
  StreamState* const stream = find(static_cast<std::uint32_t>(frame.hd.stream_id));
  if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  output_->append(frame_head);
  output_->append_payload(*stream, bytes);
  written_bytes_ += frame_head.size() + bytes;
  return written_bytes_ < most_bytes_ ? 0 : NGHTTP2_ERR_PAUSE;
}

bool ServerSession::is_over() const noexcept {
  if (is_broken_ || is_terminated_) return true;
  return nghttp2_session_want_read(nghttp2_.get()) == 0 && !wants_write();
}

// The end -----------------------------------------------------------------------------------------

void ServerSession::begin_shut_down() {
  if (takes_input()) nghttp2_submit_shutdown_notice(nghttp2_.get());
}

void ServerSession::finish_shut_down() {
  if (!takes_input()) return;
  nghttp2_submit_goaway(nghttp2_.get(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(nghttp2_.get()), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

void ServerSession::terminate(ErrorCode code, std::string_view reason) {
  if (!takes_input()) return;
  is_terminating_ = true;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(reason.data());
  const int error = nghttp2_submit_goaway(nghttp2_.get(), NGHTTP2_FLAG_NONE,
                                          nghttp2_session_get_last_proc_stream_id(nghttp2_.get()),
                                          static_cast<std::uint32_t>(code), bytes, reason.size());
  if (error != 0) is_broken_ = true;
}

void ServerSession::on_goaway_sent(const nghttp2_goaway& goaway) {
  if (is_terminating_) is_terminated_ = true;
  if (goaway.error_code == NGHTTP2_NO_ERROR) return;
  const auto* const reason = reinterpret_cast<const char*>(goaway.opaque_data);
  failure_ = {.code = static_cast<ErrorCode>(goaway.error_code),
              .reason = std::string(reason != nullptr ? reason : "", goaway.opaque_data_len)};
}

}  // namespace skua::h2

#endif
