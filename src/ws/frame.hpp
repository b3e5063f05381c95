// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::ws {

/// Masks or unmasks bytes in place. `offset` is the position of the first byte within the payload.
///
/// RFC:       6455 §5.3
void mask(std::span<char> bytes, const std::array<char, 4>& key, std::size_t offset) noexcept;

/// Frame types. RFC 6455 §11.8
enum class Opcode : std::uint8_t {
  Continuation = 0,
  Text = 1,
  Binary = 2,
  Close = 8,
  Ping = 9,
  Pong = 10,
};

/// The role of an endpoint.
enum class Role : std::uint8_t { Server, Client };

/// Reports whether a frame is Close, Ping or Pong: at most 125 bytes, never fragmented, and allowed
/// between the fragments of a message. RFC 6455 §5.5
constexpr bool is_control(Opcode opcode) noexcept { return opcode >= Opcode::Close; }

/// The header of a frame.
///
/// RFC:       6455 §5.2
struct FrameHeader {
  std::uint64_t payload_bytes = 0;
  Opcode opcode = Opcode::Continuation;
  bool is_final = true;
  bool is_compressed = false;  ///< RSV1. RFC 7692 §6
  bool is_masked = false;
  std::array<char, 4> key{};  ///< masking key, if is_masked
};

/// `what` must be a literal: it is not copied.
inline Error malformed_frame(const char* what) noexcept { return {Errc::MalformedFrame, what}; }

inline constexpr std::size_t longest_header_bytes = 14;
inline constexpr std::size_t longest_control_bytes = 125;

/// Parses the first two bytes of a frame: everything except an extended length and the masking key.
///
/// Ends with: MalformedFrame for reserved bits and opcodes, and for control frames that are
///            fragmented, compressed or too long.
Result<void> parse_frame_start(char first, char second, FrameHeader& out) noexcept;

/// Parses the rest of the header at the start of `input`, whose first two bytes parse_frame_start()
/// has parsed into `out`. Returns the header's size, or 0 if more input is needed.
///
/// Ends with: MalformedFrame for lengths above 2^63-1 or with a shorter encoding.
Result<std::size_t> parse_frame_rest(std::string_view input, FrameHeader& out) noexcept;

/// Parses the header at the start of `input` and returns its size, or 0 if more input is needed.
/// Errors are reported as soon as their byte has arrived, but not before the second.
///
/// Ends with: MalformedFrame, like parse_frame_start() and parse_frame_rest().
/// RFC:       6455 §5.2
Result<std::size_t> parse_frame_header(std::string_view input, FrameHeader& out) noexcept;

/// Writes a header of at most `longest_header_bytes` and returns its end.
char* write_frame_header(const FrameHeader& header, char* out) noexcept;

/// Returns a complete frame, masked if the header says so. The header must hold the payload's size.
std::string make_frame(const FrameHeader& header, std::string_view payload);

}  // namespace skua::ws
