// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::ws {

/// What a frame is for. RFC 6455 §11.8
enum class Opcode : std::uint8_t {
  Continuation = 0,
  Text = 1,
  Binary = 2,
  Close = 8,
  Ping = 9,
  Pong = 10,
};

/// Which end of the connection somebody is.
enum class Role : std::uint8_t { Server, Client };

/// Close, Ping and Pong: at most 125 bytes, never fragmented, allowed between the fragments of a
/// message. RFC 6455 §5.5
constexpr bool is_control(Opcode opcode) noexcept { return opcode >= Opcode::Close; }

/// What stands in front of the payload of a frame.
///
/// RFC:       6455 §5.2
struct FrameHeader {
  std::uint64_t payload_bytes = 0;
  Opcode opcode = Opcode::Continuation;
  bool is_final = true;
  bool is_compressed = false;  ///< RSV1. RFC 7692 §6
  bool is_masked = false;
  std::array<char, 4> key{};  ///< of the mask, if there is one
};

/// `what` is a literal.
inline Error malformed_frame(const char* what) noexcept { return {Errc::MalformedFrame, what}; }

inline constexpr std::size_t longest_header_bytes = 14;
inline constexpr std::size_t longest_control_bytes = 125;

/// Reads what the first two bytes of a frame say: everything but a long length and the key.
///
/// Ends with: MalformedFrame for reserved bits and opcodes, and control frames that are fragmented,
///            compressed or long.
Result<void> parse_frame_start(char first, char second, FrameHeader& out) noexcept;

/// Reads the header that `input` begins with. The answer is its size; 0 where there has to be more
/// input. A fault is told as soon as its byte is there, but not before the second.
///
/// Ends with: MalformedFrame as parse_frame_start(), and for lengths above 2^63-1 and those that
///            fit a shorter form.
/// RFC:       6455 §5.2
Result<std::size_t> parse_frame_header(std::string_view input, FrameHeader& out) noexcept;

/// Writes a header, in at most `longest_header_bytes`; returns where it ends.
char* write_frame_header(const FrameHeader& header, char* out) noexcept;

/// A whole frame with this payload, whose size the header tells; masked where that says so.
std::string make_frame(const FrameHeader& header, std::string_view payload);

}  // namespace skua::ws
