// SPDX-License-Identifier: MIT
// The connection: what we tell of ourselves, and its end. The streams are in server_streams.cpp.
#if defined(SKUA_HAS_HTTP2)

#include "h2/server_session.hpp"

#include <algorithm>
#include <array>

namespace skua::h2 {

ServerSession::ServerSession(const SessionOptions& options, Events& events, loop::Instant now)
    : events_(events),
      head_limits_(options.head),
      trailer_limits_(options.trailers),
      most_streams_(options.streams),
      engine_(Engine::Side::Server, static_cast<EngineUser&>(*this), options.abuse, now) {
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
  engine_.submit_settings(std::span(entries).first(count), options.connection_window_bytes);
  settings_pending_since_ = engine_.now();
}

std::size_t ServerSession::write(Output& output, std::size_t most_bytes) {
  output_ = &output;
  const std::size_t written = engine_.write(most_bytes);
  output_ = nullptr;
  return written;
}

bool ServerSession::is_late(std::uint32_t stream_id) const noexcept {
  // A stream that is begun by these very bytes is not known yet, and not late.
  const StreamState* const stream = find(stream_id);
  const bool is_over = stream == nullptr || stream->is_closed_ || stream->is_resetting;
  return is_over && stream_id <= highest_id_;
}

void ServerSession::begin_shut_down() {
  if (engine_.takes_input()) nghttp2_submit_shutdown_notice(engine_.session());
}

void ServerSession::finish_shut_down() {
  if (!engine_.takes_input()) return;
  nghttp2_submit_goaway(engine_.session(), NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(engine_.session()),
                        NGHTTP2_NO_ERROR, nullptr, 0);
}

}  // namespace skua::h2

#endif
