// SPDX-License-Identifier: MIT
#include "h2/peer_streams.hpp"

#include <algorithm>

namespace skua::h2 {
namespace {

// Those that we have reset stay where the peer takes our word for it and says nothing more.
constexpr std::size_t most_unfinished = 1024;

constexpr bool is_of_client(std::uint32_t id) noexcept { return id % 2 == 1; }

}  // namespace

ErrorCode PeerStreams::take(const FrameHead& frame) {
  const std::uint32_t id = frame.stream_id;
  switch (frame.type) {
    case FrameType::Headers: return is_of_client(id) ? take_headers(frame) : ErrorCode::NoError;
    case FrameType::Data:
      if (!is_of_client(id) || id > highest_) return ErrorCode::NoError;
      if (!is_unfinished(id)) return ErrorCode::StreamClosed;
      if (frame.has(frame_flags::end_stream)) finish(id);
      return ErrorCode::NoError;
    case FrameType::RstStream:
      if (is_unfinished(id)) finish(id);
      return ErrorCode::NoError;
    case FrameType::Priority:
      // That a stream depends on itself is of RFC 7540 §5.3.1.
      return id == 0 || frame.first == id ? ErrorCode::ProtocolError : ErrorCode::NoError;
    default: return ErrorCode::NoError;
  }
}

ErrorCode PeerStreams::take_headers(const FrameHead& frame) {
  const std::uint32_t id = frame.stream_id;
  if (id > highest_) {
    highest_ = id;
    begin(id);
  } else if (!is_unfinished(id)) {
    // RFC 9113 §5.1.1: a stream that was skipped cannot be begun any more.
    const bool was_finished = std::ranges::find(finished_, id) != finished_.end();
    return was_finished ? ErrorCode::StreamClosed : ErrorCode::ProtocolError;
  }
  if (frame.has(frame_flags::end_stream)) finish(id);
  return ErrorCode::NoError;
}

bool PeerStreams::is_unfinished(std::uint32_t id) const noexcept {
  return std::ranges::find(unfinished_, id) != unfinished_.end();
}

void PeerStreams::begin(std::uint32_t id) {
  if (unfinished_.size() == most_unfinished) finish(unfinished_.front());
  unfinished_.push_back(id);
}

void PeerStreams::finish(std::uint32_t id) noexcept {
  unfinished_.erase(std::ranges::find(unfinished_, id));
  finished_[next_finished_++ % finished_.size()] = id;
}

}  // namespace skua::h2
