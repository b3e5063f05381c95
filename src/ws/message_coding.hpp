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

/// Maps the application's options to DeflateOptions. We keep no context if compressed messages may
/// be dropped before they are sent: the peer's context would lack them.
DeflateOptions deflate_options(const WebSocketOptions& options) noexcept;

class MessageReader;
class Topics;

/// Codecs, readers and buffers shared by all sockets of one thread.
class Codecs final {
 public:
  /// `topics`: those of a server's thread. They must outlive the sockets.
  explicit Codecs(Topics* topics = nullptr) noexcept : topics_(topics) {}

  /// Null in a client.
  [[nodiscard]] Topics* topics() const noexcept { return topics_; }
  /// Returns a reader for a socket that has input; an idle socket gives it back.
  [[nodiscard]] std::unique_ptr<MessageReader> take_reader(Role role, std::size_t message_bytes,
                                                           Inflater* inflater);
  void give_back(std::unique_ptr<MessageReader> reader) noexcept;

  /// Returns a new, unpredictable masking key for a client's frame.
  ///
  /// Ends with: Exception if the system cannot provide random bytes.
  /// RFC:       6455 §5.3
  std::array<char, 4> next_mask();
  /// Returns the shared deflater without context.
  Deflater& deflater(std::uint8_t window_bits);
  [[nodiscard]] InflatePool& inflaters() noexcept { return inflaters_; }
  /// A buffer for a compressed message until it is copied.
  [[nodiscard]] std::string& scratch() noexcept { return scratch_; }

 private:
  struct Readers;

  InflatePool inflaters_;
  std::array<std::unique_ptr<Deflater>, 16> deflaters_;  // by window bits
  std::string scratch_;
  std::string spare_;  // see MessageReader::use_spare
  Topics* topics_;
  // Its deleter is a pointer, so that a program without WebSockets does not link what readers need.
  std::unique_ptr<Readers, void (*)(Readers*) noexcept> readers_{nullptr, nullptr};
};

/// Compresses and decompresses the messages of one socket as negotiated.
class MessageCoding final {
 public:
  /// `codecs` must outlive the object.
  MessageCoding(Role role, const DeflateParameters& agreed, Codecs& codecs);

  [[nodiscard]] Inflater& inflater() noexcept { return inflater_; }
  /// Reports whether a message of this size is likely to shrink.
  [[nodiscard]] bool is_worth(std::size_t size_bytes) const noexcept;
  /// Compresses a message. Lifetime: until the next call for any socket of the thread.
  std::string_view deflate(std::string_view content);
  /// Reports whether it can send frames compressed for many sockets: no context, largest window.
  [[nodiscard]] bool takes_shared() const noexcept;

 private:
  Codecs& codecs_;
  Inflater inflater_;
  std::unique_ptr<Deflater> own_;  // if it keeps its context
  std::uint8_t window_bits_;
};

}  // namespace skua::ws
