// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/bytes.hpp"

namespace skua {

/// What a WebSocket message is: text is UTF-8, and has been checked.
enum class MessageType : std::uint8_t { Text, Binary };

/// One message of a WebSocket, whole, whatever the frames that it came in.
struct Message {
  std::string_view text{};  ///< its content, also that of a binary one
  MessageType type = MessageType::Text;

  [[nodiscard]] Bytes bytes() const noexcept { return skua::bytes(text); }
};

/// What either side sends between messages, to see whether the other is still there. RFC 6455
/// §5.5.2
enum class WebSocketControl : std::uint8_t { Ping, Pong };

/// Why a WebSocket was closed. Applications have 4000 to 4999 for themselves; 3000 to 3999 are
/// registered.
///
/// RFC:       6455 §7.4
enum class CloseCode : std::uint16_t {
  Normal = 1000,
  GoingAway = 1001,        ///< a server that drains, a page that is left
  ProtocolError = 1002,    ///< frames that break the rules
  UnsupportedData = 1003,  ///< a type of message that is not taken here
  NoStatus = 1005,         ///< the peer said no code; never sent
  Abnormal = 1006,         ///< the connection broke off; never sent
  InvalidData = 1007,      ///< text that is not UTF-8, data that cannot be decompressed
  PolicyViolation = 1008,
  MessageTooBig = 1009,
  MandatoryExtension = 1010,
  InternalError = 1011,
  ServiceRestart = 1012,
  TryAgainLater = 1013,
  TlsFailure = 1015,  ///< never sent
};

/// How a WebSocket came to its end.
struct CloseReason {
  CloseCode code = CloseCode::NoStatus;
  std::string text{};  ///< what the peer said, or what was found wrong with it; UTF-8
};

}  // namespace skua
