// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "skua/websocket.hpp"
#include "ws/deflate.hpp"
#include "ws/extension.hpp"
#include "ws/frame.hpp"

namespace skua::ws {

/// What the choices of the application come to. Where compressed messages may be dropped before
/// they are sent there is no context: the peer's would lack them.
DeflateOptions deflate_options(const WebSocketOptions& options) noexcept;

/// What all sockets of one thread share.
class Codecs final {
 public:
  /// A new key for a frame of a client's: nobody can guess it.
  ///
  /// Ends with: Exception where the system has no random bytes to give.
  /// RFC:       6455 §5.3
  std::array<char, 4> next_mask();
  /// One without context.
  Deflater& deflater(std::uint8_t window_bits);
  [[nodiscard]] InflatePool& inflaters() noexcept { return inflaters_; }
  [[nodiscard]] const InflatePool& inflaters() const noexcept { return inflaters_; }
  /// Where a compressed message lies until it is copied.
  [[nodiscard]] std::string& scratch() noexcept { return scratch_; }
  /// See MessageReader::use_spare.
  [[nodiscard]] std::string& spare() noexcept { return spare_; }

 private:
  InflatePool inflaters_;
  std::array<std::unique_ptr<Deflater>, 16> deflaters_;  // by window bits
  std::string scratch_;
  std::string spare_;
  std::string random_;
  std::size_t random_used_ = 0;
};

/// How one socket compresses and decompresses what was agreed on.
class MessageCoding final {
 public:
  /// `codecs` outlives it.
  MessageCoding(Role role, const DeflateParameters& agreed, Codecs& codecs);

  [[nodiscard]] Inflater& inflater() noexcept { return inflater_; }
  /// Whether a message of this size is likely to get shorter.
  [[nodiscard]] bool is_worth(std::size_t size_bytes) const noexcept;
  /// Lifetime:  until the next call for any socket of the thread.
  std::string_view deflate(std::string_view content);
  /// Whether it takes what was compressed for many: without context, with the largest window.
  [[nodiscard]] bool takes_shared() const noexcept;

 private:
  Codecs& codecs_;
  Inflater inflater_;
  std::unique_ptr<Deflater> own_;  // where it keeps its context
  std::uint8_t window_bits_;
};

}  // namespace skua::ws
