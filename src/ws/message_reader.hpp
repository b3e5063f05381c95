// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "skua/config.hpp"
#include "skua/websocket_message.hpp"
#include "ws/frame.hpp"
#include "ws/utf8.hpp"

namespace skua::ws {

class Inflater;

/// Parses the bytes from a peer into messages.
///
/// ```
/// for (auto event = reader.next(input); event != Event::NeedMore; event = reader.next(input)) {
///   use(event, reader.payload());
/// }
/// ```
/// A message that is complete in `input` is returned in place. Others are collected as they arrive,
/// in at most twice their size or in the shared spare buffer; an announced length alone allocates
/// nothing. Between messages it owns no heap memory.
/// RFC:       6455 §5, §6.2, §7, §8.1; 7692 §6.2
class MessageReader final {
 public:
  /// NeedMore: the input is used up. Close and Failed are final: input after Close is ignored
  /// (RFC 6455 §5.5.1), and Failed is returned again.
  enum class Event : std::uint8_t { NeedMore, Message, Ping, Pong, Close, Failed };

  /// `role` is ours: a server requires masked frames, a client unmasked ones. Messages that exceed
  /// `message_bytes` after decompression fail.
  MessageReader(Role role, std::size_t message_bytes) noexcept;
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;
  ~MessageReader();

  /// Enables permessage-deflate, without which compressed messages fail. The inflater belongs to
  /// this connection alone and must outlive the reader.
  void use(Inflater* inflater) noexcept { inflater_ = inflater; }

  /// Prepares an idle reader for another connection.
  void serve(Role role, std::size_t message_bytes, Inflater* inflater) noexcept {
    role_ = role;
    message_bytes_ = message_bytes;
    inflater_ = inflater;
  }

  /// Sets a buffer shared by the readers of one thread: a reader that collects a long message swaps
  /// it for its own until the message is gone. It must outlive the readers.
  void use_spare(std::string& spare) noexcept { spare_ = &spare; }

  /// Reads up to the next event. Removes the bytes used from the front of `input`, and unmasks them
  /// in place.
  Event next(std::span<char>& input);

  /// The payload of Message, Ping and Pong.
  ///
  /// Lifetime:  until the next call of next(), or the end of the input's memory.
  [[nodiscard]] std::string_view payload() const noexcept { return payload_; }
  /// Keeps the payload of a Message valid until the next call of next(), independent of the input.
  void keep_payload();
  /// The type of a Message.
  [[nodiscard]] MessageType type() const noexcept {
    return message_opcode_ == Opcode::Text ? MessageType::Text : MessageType::Binary;
  }
  /// After Close, the peer's reason. After Failed, the code to close with, and the error.
  [[nodiscard]] const CloseReason& reason() const noexcept SKUA_LIFETIMEBOUND;

  /// Reports whether a message has begun but is incomplete.
  [[nodiscard]] bool is_in_message() const noexcept { return is_in_message_; }
  /// Reports whether no frame has begun, nor a message: another reader could go on as well. Valid
  /// after NeedMore.
  [[nodiscard]] bool is_idle() const noexcept {
    return state_ == State::Header && header_bytes_ == 0 && !is_in_message_;
  }
  /// Heap memory in use.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  enum class State : std::uint8_t { Header, Payload, Closed, Failed };
  // State that few connections need, and only briefly.
  struct Extra {
    CloseReason reason{};
    std::array<char, longest_control_bytes> control{};  // a control frame that arrives in pieces
    std::array<char, longest_header_bytes> header{};    // likewise
  };

  Event need_more() noexcept;
  Result<bool> take_header(std::span<char>& input);
  Result<void> check_start(const FrameHeader& header) const noexcept;
  Result<void> begin_frame(const FrameHeader& header);
  std::span<char> take_piece(std::span<char>& input) noexcept;

  Result<Event> take_control(std::span<char>& input);
  Event end_control(std::string_view payload);
  Result<Event> take_data(std::span<char>& input);
  Result<void> inflate(std::string_view piece, bool is_end);
  Result<void> take_inflated(std::string_view made);
  Result<void> check_text(std::string_view text) noexcept;
  void give_back_memory() noexcept;
  void collect(std::string_view piece);

  Extra& extra();
  void end(State state) noexcept;
  Event fail(Error error);
  void forget_message() noexcept;

  Inflater* inflater_ = nullptr;
  std::string* spare_ = nullptr;
  std::size_t message_bytes_;     // limit
  std::uint64_t left_bytes_ = 0;  // of the frame
  std::string collected_;         // of the message, unless it is complete in the input
  std::string_view payload_{};
  std::unique_ptr<Extra> extra_;
  std::array<char, 4> key_{};
  std::uint8_t header_bytes_ = 0;  // of a header that arrives in pieces
  Utf8Validator utf8_;
  Role role_;
  State state_ = State::Header;
  Opcode frame_opcode_ = Opcode::Continuation;
  Opcode message_opcode_ = Opcode::Continuation;
  std::uint8_t mask_offset_ = 0;    // in the key
  std::uint8_t control_bytes_ = 0;  // of the payload of a control frame
  bool is_final_ : 1 = true;        // the frame
  bool is_masked_ : 1 = false;      // the frame
  bool is_compressed_ : 1 = false;  // the message
  bool is_in_message_ : 1 = false;
};
static_assert(sizeof(MessageReader) <= 104);

}  // namespace skua::ws
