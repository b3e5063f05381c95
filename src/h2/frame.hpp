// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "skua/error.hpp"

namespace skua::h2 {

/// Error codes of RST_STREAM and GOAWAY. RFC 9113 §7
enum class ErrorCode : std::uint32_t {
  NoError = 0x0,
  ProtocolError = 0x1,
  InternalError = 0x2,
  FlowControlError = 0x3,
  SettingsTimeout = 0x4,
  StreamClosed = 0x5,
  FrameSizeError = 0x6,
  RefusedStream = 0x7,
  Cancel = 0x8,
  CompressionError = 0x9,
  ConnectError = 0xa,
  EnhanceYourCalm = 0xb,
  InadequateSecurity = 0xc,
  Http11Required = 0xd,
};

/// Returns the name from the RFC, such as `PROTOCOL_ERROR`; `UNKNOWN` for an unregistered code.
std::string_view name(ErrorCode code) noexcept;

/// Returns the code with which to reset a stream whose content was to come from another one, from
/// the error that ended that one: its own, if the peer would understand it.
ErrorCode code_for(Error error) noexcept;

/// The first bytes that an HTTP/2 client sends. RFC 9113 §3.4
inline constexpr std::string_view client_preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum class PrefaceMatch : std::uint8_t { No, Yes, NeedMore };

/// Reports whether a connection begins with the HTTP/2 preface (prior knowledge, RFC 9113 §3.3).
/// A Yes needs the first 24 bytes; nearly all HTTP/1 requests are a No within the first three.
constexpr PrefaceMatch match_preface(std::string_view first_bytes) noexcept {
  if (first_bytes.size() >= client_preface.size()) {
    return first_bytes.starts_with(client_preface) ? PrefaceMatch::Yes : PrefaceMatch::No;
  }
  return client_preface.starts_with(first_bytes) ? PrefaceMatch::NeedMore : PrefaceMatch::No;
}

/// The standard frame types. RFC 9113 §6, 9218 §7.1
enum class FrameType : std::uint8_t {
  Data = 0x0,
  Headers = 0x1,
  Priority = 0x2,
  RstStream = 0x3,
  Settings = 0x4,
  PushPromise = 0x5,
  Ping = 0x6,
  Goaway = 0x7,
  WindowUpdate = 0x8,
  Continuation = 0x9,
  PriorityUpdate = 0x10,
};

/// Frame flags; which ones apply depends on the frame type. RFC 9113 §6
namespace frame_flags {
inline constexpr std::uint8_t end_stream = 0x1;
inline constexpr std::uint8_t ack = 0x1;
inline constexpr std::uint8_t end_headers = 0x4;
inline constexpr std::uint8_t padded = 0x8;
inline constexpr std::uint8_t priority = 0x20;
}  // namespace frame_flags

/// RFC 9113 §6.5.2, 8441 §3, 9218 §2.1
enum class Setting : std::uint16_t {
  HeaderTableSize = 0x1,
  EnablePush = 0x2,
  MaxConcurrentStreams = 0x3,
  InitialWindowSize = 0x4,
  MaxFrameSize = 0x5,
  MaxHeaderListSize = 0x6,
  EnableConnectProtocol = 0x8,
  NoRfc7540Priorities = 0x9,
};

inline constexpr std::size_t frame_header_bytes = 9;
inline constexpr std::size_t setting_bytes = 6;
inline constexpr std::size_t priority_bytes = 5;
/// The default and the maximum of SETTINGS_MAX_FRAME_SIZE. RFC 9113 §4.2
inline constexpr std::uint32_t first_frame_bytes = 16 * 1024;
inline constexpr std::uint32_t max_frame_bytes = (1U << 24U) - 1;
/// RFC 9113 §6.9.1, §6.9.2
inline constexpr std::int64_t max_window_bytes = 0x7fff'ffff;
inline constexpr std::int64_t first_window_bytes = 65'535;

/// Reads a big-endian number of four bytes.
inline std::uint32_t read_number(const char* at) noexcept {
  const auto byte = [at](int i) { return std::uint32_t{static_cast<unsigned char>(at[i])}; };
  return byte(0) << 24U | byte(1) << 16U | byte(2) << 8U | byte(3);
}

inline void write_number(char* at, std::uint32_t value) noexcept {
  at[0] = static_cast<char>(value >> 24U);
  at[1] = static_cast<char>(value >> 16U);
  at[2] = static_cast<char>(value >> 8U);
  at[3] = static_cast<char>(value);
}

/// RFC 9113 §4.1:
///
///   +-----------------------+---------+---------+-+-----------------+
///   | length (24)           | type (8)| flags(8)|R| stream id (31)  |  then `length` bytes
///   +-----------------------+---------+---------+-+-----------------+
struct FrameHead {
  std::uint32_t length_bytes = 0;  ///< of the payload
  std::uint32_t stream_id = 0;
  FrameType type = FrameType::Data;  ///< may be an unknown type
  std::uint8_t flags = 0;

  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }

  /// Reads from frame_header_bytes bytes.
  static FrameHead read(const char* at) noexcept {
    return {.length_bytes = read_number(at) >> 8U,
            .stream_id = read_number(at + 5) & 0x7fff'ffffU,
            .type = static_cast<FrameType>(at[3]),
            .flags = static_cast<std::uint8_t>(at[4])};
  }
  /// Writes frame_header_bytes bytes.
  void write(char* at) const noexcept {
    write_number(at, length_bytes << 8U | static_cast<std::uint32_t>(type));
    at[4] = static_cast<char>(flags);
    write_number(at + 5, stream_id);
  }
};

}  // namespace skua::h2
