// SPDX-License-Identifier: MIT
// What arrives is counted by an AbuseGuard and then given to nghttp2, what nghttp2 has to send is
// written until the caller has enough.
#if defined(SKUA_HAS_HTTP2)

#include "h2/engine.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "h2/callbacks.hpp"
#include "h2/preface.hpp"

#if NGHTTP2_VERSION_NUM < 0x013200
#error "nghttp2 1.50 or newer is needed (RFC 9218)"
#endif

namespace skua::h2 {
namespace {

constexpr std::size_t most_sent_head_bytes = 256 * 1024;
/// What nghttp2 asks for at most at a time; less where a window is smaller.
constexpr std::size_t whole_data_frame_bytes = 16 * 1024;
/// The limit on streams that nghttp2 is told: it ends the connection over one too many, where we
/// refuse the stream.
constexpr std::uint32_t no_stream_limit = 0x7fff'ffff;
constexpr std::size_t setting_bytes = 6;

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
  nghttp2_session* raw = nullptr;
  const auto make =
      side == Side::Server ? nghttp2_session_server_new2 : nghttp2_session_client_new2;
  if (make(&raw, callbacks, this, make_options().get()) != 0) throw std::bad_alloc();
  nghttp2_.reset(raw);
}

Engine::~Engine() = default;

void Engine::submit_settings(std::span<const nghttp2_settings_entry> entries,
                             std::uint32_t connection_window_bytes) {
  std::vector<nghttp2_settings_entry> submitted(entries.begin(), entries.end());
  for (nghttp2_settings_entry& entry : submitted) {
    if (entry.settings_id != NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) continue;
    told_streams_ = std::exchange(entry.value, no_stream_limit);
  }
  int error = nghttp2_submit_settings(nghttp2_.get(), NGHTTP2_FLAG_NONE, submitted.data(),
                                      submitted.size());
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
  note_unfinished();
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
  if (guard_.is_over_mark()) end_abuse();
}

void Engine::feed(std::string_view input) {
  if (!takes_input() || input.empty()) return;
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  const ssize_t taken = nghttp2_session_mem_recv(nghttp2_.get(), bytes, input.size());
  if (taken < 0) fail(static_cast<int>(taken));
}

void Engine::check_frames(std::string_view input) {
  has_begun_frame_ = false;
  while (const FrameHead* const frame = scan_.next(input)) {
    has_begun_frame_ = true;
    if (frame->type == FrameType::Headers || frame->type == FrameType::Continuation) {
      if (frame->type == FrameType::Headers) head_began_ = now_;
      is_head_open_ = !frame->has(frame_flags::end_headers);
    }
    charge(*frame);
    const ErrorCode error = user_.check(*frame);
    if (error != ErrorCode::NoError) {
      return terminate(error, "a frame that the state of its stream does not allow");
    }
    if (guard_.is_over_mark()) {
      return end_abuse();
    }
  }
}

// A head counts from its first frame to its last, every other frame for itself.
void Engine::note_unfinished() noexcept {
  if (is_head_open_) {
    unfinished_since_ = head_began_;
  } else if (!scan_.is_within_frame()) {
    unfinished_since_.reset();
  } else if (has_begun_frame_ || !unfinished_since_) {
    unfinished_since_ = now_;
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
    case FrameType::Ping:
      if (!frame.has(frame_flags::ack)) guard_.take_ping(now_);
      return;
    case FrameType::Priority:
    case FrameType::PriorityUpdate: return charge(Abuse::Priority);
    case FrameType::WindowUpdate: return guard_.take_window_update(frame.first, now_);
    case FrameType::Continuation: return charge(Abuse::Continuation);
    case FrameType::PushPromise: return;  // ends the connection
    case FrameType::Goaway:
      // A client's ends what it may do; a server may say it again and again.
      if (side_ == Side::Server) return;
      break;
  }
  charge(Abuse::UnknownFrame);
}

// Ends what is charged too much, for the reason that it was charged for.
void Engine::end_abuse() {
  if (!takes_input()) return;
  is_abused_ = true;
  terminate(ErrorCode::EnhanceYourCalm, guard_.reason());
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
    if (size < 0) give_up();
    if (size <= 0) break;
    append({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    written_bytes_ += static_cast<std::size_t>(size);
  }
  if (guard_.is_over_mark()) end_abuse();
  return written_bytes_;
}

// The peer is told the limit on streams that we hold it to.
void Engine::append(std::string_view frame) {
  const bool is_settings =
      frame.size() > frame_header_bytes && frame[3] == static_cast<char>(FrameType::Settings);
  if (!told_streams_ || !is_settings) return user_.append(frame);
  std::string told(frame);
  for (std::size_t at = frame_header_bytes; at + setting_bytes <= told.size();
       at += setting_bytes) {
    if (told[at] != 0 || told[at + 1] != NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS) continue;
    for (std::size_t i = 0; i < 4; ++i) {
      told[at + 2 + i] = static_cast<char>(*told_streams_ >> (24 - 8 * i) & 0xffU);
    }
  }
  told_streams_.reset();
  user_.append(told);
}

int Engine::send_data(const nghttp2_frame& frame, std::string_view frame_head, std::size_t bytes) {
  const auto id = static_cast<std::uint32_t>(frame.hd.stream_id);
  if (find(id) == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  user_.append(frame_head);
  user_.append_payload(id, bytes);
  written_bytes_ += frame_head.size() + bytes;
  return written_bytes_ < most_bytes_ ? 0 : NGHTTP2_ERR_PAUSE;
}

ssize_t Engine::pass_on(std::uint32_t id, const BodyRead& read, std::size_t most_bytes,
                        std::uint32_t& flags) {
  guard_.sent_data(read.bytes, read.bytes == most_bytes && most_bytes < whole_data_frame_bytes);
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
  if (error != 0) give_up();
}

// For want of memory: nothing else goes wrong in there.
void Engine::give_up() noexcept {
  is_broken_ = true;
  if (!failure_) failure_.emplace().code = ErrorCode::InternalError;
}

int Engine::on_sent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) guard_.sent_frame();
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
