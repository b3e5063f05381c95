// SPDX-License-Identifier: MIT
// What arrives is counted by an AbuseGuard and then given to nghttp2, what nghttp2 has to send is
// written until the caller has enough.
#if defined(SKUA_HAS_HTTP2)

#include "h2/engine.hpp"

#include <algorithm>
#include <new>

#include "h2/callbacks.hpp"
#include "h2/preface.hpp"

#if NGHTTP2_VERSION_NUM < 0x013200
#error "nghttp2 1.50 or newer is needed (RFC 9218)"
#endif

namespace skua::h2 {
namespace {

constexpr std::size_t most_sent_head_bytes = 256 * 1024;
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
  nghttp2_option_set_max_send_header_block_length(raw, most_sent_head_bytes);
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

Engine::Engine(Side side, EngineUser& user, const AbuseLimits& abuse, loop::Instant now)
    : user_(user),
      side_(side),
      scan_(side == Side::Server ? client_preface.size() : 0),
      guard_(abuse, now),
      now_(now) {
  const nghttp2_session_callbacks* const callbacks = Callbacks::all();
  if (callbacks == nullptr) throw std::bad_alloc();
  nghttp2_session* raw = nullptr;
  const auto make =
      side == Side::Server ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  if (make(&raw, callbacks, this, make_options().get()) != 0) throw std::bad_alloc();
  nghttp2_.reset(raw);
}

Engine::~Engine() = default;

void Engine::submit_settings(std::span<const nghttp2_settings_entry> entries,
                             std::uint32_t connection_window_bytes) {
  int error =
      nghttp2_submit_settings(nghttp2_.get(), NGHTTP2_FLAG_NONE, entries.data(), entries.size());
  if (error == 0) {
    error = nghttp2_session_set_local_window_size(
        nghttp2_.get(), NGHTTP2_FLAG_NONE, 0,
        static_cast<std::int32_t>(std::min(connection_window_bytes, 0x7fff'ffffU)));
  }
  if (error == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
  SKUA_ASSERT(error == 0);
}

// What arrives ------------------------------------------------------------------------------------

void Engine::receive(std::string_view input, loop::Instant now) {
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

void Engine::feed(std::string_view input) {
  if (!takes_input() || input.empty()) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const ssize_t taken = nghttp2_session_mem_recv(nghttp2_.get(), bytes, input.size());
  if (taken < 0) fail(static_cast<int>(taken));
}

void Engine::check_frames(std::string_view input) {
  while (const FrameHead* const frame = scan_.next(input)) {
    charge(*frame);
    const ErrorCode error = user_.check(*frame);
    if (error != ErrorCode::NoError) {
      return terminate(error, "a frame that the state of its stream does not allow");
    }
    if (guard_.is_over_mark()) {
      return terminate(ErrorCode::EnhanceYourCalm, "too many cheap frames");
    }
  }
}

void Engine::charge(const FrameHead& frame) {
  switch (frame.type) {
    case FrameType::Data: {
      const bool is_padded = frame.has(frame_flags::padded);
      const std::uint32_t padding = is_padded ? frame.first + 1 : 0;
      const bool is_empty = frame.length_bytes <= padding;
      if (is_empty && !frame.has(frame_flags::end_stream)) charge(Abuse::EmptyData);
      if (is_padded && padding > frame.length_bytes / 2) charge(Abuse::PaddedData);
      [[fallthrough]];
    }
    case FrameType::Headers:
      if (user_.is_late(frame.stream_id)) charge(Abuse::LateFrame);
      return;
    case FrameType::RstStream:
      // A server's refuses what we have asked for: it can have no more of them than we of streams.
      if (side_ == Side::Server) return charge(Abuse::PeerReset);
      if (user_.is_late(frame.stream_id)) charge(Abuse::LateFrame);
      return;
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
    case FrameType::PushPromise: return;  // ends the connection
    case FrameType::Goaway:
      // A client's ends what it may do; a server may say it again and again.
      if (side_ == Side::Server) return;
      break;
  }
  charge(Abuse::UnknownFrame);
}

void Engine::fail(int nghttp2_error) {
  terminate(code_for(nghttp2_error), nghttp2_strerror(nghttp2_error));
}

// What is sent ------------------------------------------------------------------------------------

bool Engine::wants_write() const noexcept {
  return !is_broken_ && !is_terminated_ && nghttp2_session_want_write(nghttp2_.get()) != 0;
}

std::size_t Engine::write(std::size_t most_bytes) {
  written_bytes_ = 0;
  most_bytes_ = most_bytes;
  while (written_bytes_ < most_bytes_ && !is_broken_ && !is_terminated_) {
    const std::uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(nghttp2_.get(), &bytes);
    if (size < 0) is_broken_ = true;
    if (size <= 0) break;
    user_.append({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    written_bytes_ += static_cast<std::size_t>(size);
  }
  if (guard_.is_over_mark()) terminate(ErrorCode::EnhanceYourCalm, "too many provoked resets");
  return written_bytes_;
}

int Engine::send_data(const nghttp2_frame& frame, std::string_view frame_head, std::size_t bytes) {
  const auto id = static_cast<std::uint32_t>(frame.hd.stream_id);
  if (find(id) == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  user_.append(frame_head);
  user_.append_payload(id, bytes);
  written_bytes_ += frame_head.size() + bytes;
  return written_bytes_ < most_bytes_ ? 0 : NGHTTP2_ERR_PAUSE;
}

ssize_t Engine::pass_on(std::uint32_t id, const BodyRead& read, std::uint32_t& flags) {
  if (read.state == BodyRead::State::End) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!read.trailers.empty()) {
      fields_.assign(read.trailers);
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      nghttp2_submit_trailer(nghttp2_.get(), static_cast<std::int32_t>(id), fields_.data(),
                             fields_.size());
    }
  }
  if (read.bytes != 0) flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  return static_cast<ssize_t>(read.bytes);
}

bool Engine::is_over() const noexcept {
  if (is_broken_ || is_terminated_) return true;
  return nghttp2_session_want_read(nghttp2_.get()) == 0 && !wants_write();
}

// The end -----------------------------------------------------------------------------------------

void Engine::terminate(ErrorCode code, std::string_view reason) {
  if (!takes_input()) return;
  is_terminating_ = true;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(reason.data());
  const int error = nghttp2_submit_goaway(nghttp2_.get(), NGHTTP2_FLAG_NONE,
                                          nghttp2_session_get_last_proc_stream_id(nghttp2_.get()),
                                          static_cast<std::uint32_t>(code), bytes, reason.size());
  if (error != 0) is_broken_ = true;
}

int Engine::on_sent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_GOAWAY) return user_.on_sent(frame);
  if (is_terminating_) is_terminated_ = true;
  const nghttp2_goaway& goaway = frame.goaway;
  if (goaway.error_code == NGHTTP2_NO_ERROR) return 0;
  const auto* const reason = reinterpret_cast<const char*>(goaway.opaque_data);
  failure_ = {.code = static_cast<ErrorCode>(goaway.error_code),
              .reason = std::string(reason != nullptr ? reason : "", goaway.opaque_data_len)};
  return 0;
}

}  // namespace skua::h2

#endif
