// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "skua/error.hpp"
#include "skua/websocket_message.hpp"

namespace skua::ws {

/// The maximum length of the text in a Close frame. RFC 6455 §5.5
inline constexpr std::size_t longest_reason_bytes = 123;

/// Reports whether a Close frame may carry this code. Excludes codes for internal use, such as
/// NoStatus, and undefined ones.
///
/// RFC:       6455 §7.4; the IANA registry
constexpr bool is_sendable(std::uint16_t code) noexcept {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}
constexpr bool is_sendable(CloseCode code) noexcept {
  return is_sendable(static_cast<std::uint16_t>(code));
}

/// Returns the code for closing a connection after this error: 1002, 1007, 1009 or 1011.
CloseCode close_code_for(Errc error) noexcept;

/// Parses the payload of a Close frame; an empty one is NoStatus.
///
/// Ends with: MalformedFrame for a single byte and for invalid codes; MalformedText.
/// RFC:       6455 §5.5.1
Result<CloseReason> parse_close(std::string_view payload);

/// Returns the payload of a Close frame. An invalid code yields an empty payload. Text that is too
/// long is cut at a character boundary; text that is not UTF-8 is dropped.
std::string write_close(CloseCode code, std::string_view text);

}  // namespace skua::ws
