// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace skua::h2
