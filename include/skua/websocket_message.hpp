// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/bytes.hpp"

namespace skua {

/// The type of a WebSocket message. Text has been checked to be UTF-8.
enum class MessageType : std::uint8_t { Text, Binary };

/// A whole WebSocket message, however many frames it came in.
struct Message {
  std::string_view text{};  ///< the content, even of a binary message
  MessageType type = MessageType::Text;

  [[nodiscard]] Bytes bytes() const noexcept { return skua::bytes(text); }
};

/// Frames that either side sends between messages to check that the peer is alive. RFC 6455 §5.5.2
enum class WebSocketControl : std::uint8_t { Ping, Pong };

/// Why a WebSocket was closed. 4000 to 4999 are for applications; 3000 to 3999 are registered.
///
/// RFC:       6455 §7.4
enum class CloseCode : std::uint16_t {
  Normal = 1000,
  GoingAway = 1001,        ///< the server drains, or the page was left
  ProtocolError = 1002,    ///< frames that violate the protocol
  UnsupportedData = 1003,  ///< a type of message that is not accepted here
  NoStatus = 1005,         ///< the peer gave no code; never sent
  Abnormal = 1006,         ///< the connection was lost; never sent
  InvalidData = 1007,      ///< text that is not UTF-8, data that cannot be decompressed
  PolicyViolation = 1008,
  MessageTooBig = 1009,
  MandatoryExtension = 1010,
  InternalError = 1011,
  ServiceRestart = 1012,
  TryAgainLater = 1013,
  TlsFailure = 1015,  ///< never sent
};

/// How a WebSocket ended.
struct CloseReason {
  CloseCode code = CloseCode::NoStatus;
  std::string text{};  ///< the peer's reason, or what was wrong with the peer; UTF-8
};

}  // namespace skua
