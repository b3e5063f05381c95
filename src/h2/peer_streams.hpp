// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "h2/error_code.hpp"
#include "h2/frame_scan.hpp"

namespace skua::h2 {

/// What a client may still send on its streams, by the heads of its frames alone.
///
/// nghttp2 forgets a stream when both sides are done with it, and drops what comes for it then.
/// Only what was on its way when we reset a stream deserves that: from a peer that had ended the
/// stream itself it is an error of the connection.
/// RFC:       9113 §5.1, §5.1.1, §6.3
class PeerStreams final {
 public:
  /// What the frame means for the connection: NoError where nothing is wrong with it, or where
  /// nghttp2 sees what is.
  ErrorCode take(const FrameHead& frame);

 private:
  ErrorCode take_headers(const FrameHead& frame);
  [[nodiscard]] bool is_unfinished(std::uint32_t id) const noexcept;
  void begin(std::uint32_t id);
  void finish(std::uint32_t id) noexcept;

  std::vector<std::uint32_t> unfinished_;     // the peer has neither ended nor reset them
  std::array<std::uint32_t, 64> finished_{};  // the latest
  std::size_t next_finished_ = 0;
  std::uint32_t highest_ = 0;
};

}  // namespace skua::h2
