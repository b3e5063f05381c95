// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/websocket_message.hpp"

namespace skua::ws {

/// How much a Close frame may say beside its code. RFC 6455 §5.5
inline constexpr std::size_t longest_reason_bytes = 123;

/// Whether a Close frame may carry this code: not those that only tell of a missing one, nor those
/// that nobody has defined.
///
/// RFC:       6455 §7.4; the registry of IANA
constexpr bool is_sendable(std::uint16_t code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}
constexpr bool is_sendable(CloseCode code) noexcept {
  return is_sendable(static_cast<std::uint16_t>(code));
}

/// The code with which a connection is closed because of this error: 1002, 1007, 1009 or 1011.
CloseCode close_code_for(Errc error) noexcept;

/// Reads the payload of a Close frame; an empty one is NoStatus.
///
/// Ends with: MalformedFrame for a single byte and for codes that may not be sent, MalformedText.
/// RFC:       6455 §5.5.1
Result<CloseReason> parse_close(std::string_view payload);

/// The payload of a Close frame. A code that may not be sent makes an empty one; a text that is too
/// long is cut where a character ends, and one that is not UTF-8 is left out.
std::string write_close(CloseCode code, std::string_view text);

}  // namespace skua::ws
