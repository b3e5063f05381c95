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

/// Makes messages of the bytes that a peer sends.
///
/// ```
/// for (auto event = reader.next(input); event != Event::NeedMore; event = reader.next(input)) {
///   use(event, reader.payload());
/// }
/// ```
/// It keeps nothing of `input`: a message that is whole in there is shown where it lies, and of
/// others the bytes are collected as they arrive, never on the word of a length, in at most twice
/// their memory, or in what readers take turns with. Between messages it owns none on the heap.
/// RFC:       6455 §5, §6.2, §7, §8.1; 7692 §6.2
class MessageReader final {
 public:
  /// NeedMore: the input is used up. Close and Failed are the last event; what comes after them is
  /// ignored (RFC 6455 §5.5.1) or Failed again.
  enum class Event : std::uint8_t { NeedMore, Message, Ping, Pong, Close, Failed };

  /// `role` is ours: a server wants masked frames, a client frames that are not. Longer messages
  /// than `message_bytes`, decompressed, fail.
  MessageReader(Role role, std::size_t message_bytes) noexcept;
  MessageReader(const MessageReader&) = delete;
  MessageReader& operator=(const MessageReader&) = delete;
  ~MessageReader();

  /// permessage-deflate was negotiated; without, a compressed message fails. The inflater belongs
  /// to this connection alone, and outlives the reader.
  void use(Inflater* inflater) noexcept { inflater_ = inflater; }

  /// Memory that the readers of one thread take turns with: one that collects a long message swaps
  /// it for its own until that has gone. It outlives them.
  void use_spare(std::string& spare) noexcept { spare_ = &spare; }

  /// Takes bytes off the front of `input`, and unmasks them there, up to and including what makes
  /// the next event.
  Event next(std::span<char>& input);

  /// Of Message, Ping and Pong.
  ///
  /// Lifetime:  until the next call of next(), or until the input goes.
  [[nodiscard]] std::string_view payload() const noexcept { return payload_; }
  /// Makes the payload of a Message last until the next call of next(), whatever becomes of the
  /// input.
  void keep_payload();
  /// Of Message.
  [[nodiscard]] MessageType type() const noexcept {
    return message_opcode_ == Opcode::Text ? MessageType::Text : MessageType::Binary;
  }
  /// Of Close: what the peer said. Of Failed: the code to close with, and why.
  [[nodiscard]] const CloseReason& reason() const noexcept SKUA_LIFETIMEBOUND;

  /// Whether a message has begun and is not whole.
  [[nodiscard]] bool is_in_message() const noexcept { return is_in_message_; }
  /// What it holds on the heap.
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  enum class State : std::uint8_t { Header, Payload, Closed, Failed };
  // What few connections need, and then not for long.
  struct Extra {
    CloseReason reason{};
    std::array<char, longest_control_bytes> control{};  // of a control frame that came in pieces
    std::array<char, longest_header_bytes> header{};    // the same
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
  std::size_t message_bytes_;     // at most
  std::uint64_t left_bytes_ = 0;  // of the frame
  std::string collected_;         // of the message, unless it is whole in the input
  std::string_view payload_{};
  std::unique_ptr<Extra> extra_;
  std::array<char, 4> key_{};
  std::uint8_t header_bytes_ = 0;  // that came in pieces
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
