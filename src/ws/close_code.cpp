// SPDX-License-Identifier: MIT
// In: the payload of a Close frame, two bytes of code followed by text. Out: both, and vice versa.
#include "ws/close_code.hpp"

#include "ws/utf8.hpp"

namespace skua::ws {
namespace {

// Cuts valid UTF-8 to at most `longest_reason_bytes`, without splitting a character.
std::string_view cut(std::string_view text) noexcept {
  if (text.size() <= longest_reason_bytes) return text;
  std::size_t size = longest_reason_bytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return text.substr(0, size);
}

}  // namespace

CloseCode close_code_for(Errc error) noexcept {
  switch (error) {
    case Errc::MalformedFrame: return CloseCode::ProtocolError;
    case Errc::MalformedText:
    case Errc::MalformedCoding: return CloseCode::InvalidData;
    case Errc::MessageTooLong: return CloseCode::MessageTooBig;
    default: return CloseCode::InternalError;
  }
}

Result<CloseReason> parse_close(std::string_view payload) {
  if (payload.empty()) return CloseReason{};
  if (payload.size() == 1) return Error(Errc::MalformedFrame, "truncated close code");
  const auto code = static_cast<std::uint16_t>(static_cast<unsigned char>(payload[0]) << 8U |
                                               static_cast<unsigned char>(payload[1]));
  if (!is_sendable(code)) return Error(Errc::MalformedFrame, "invalid close code");
  const std::string_view text = payload.substr(2);
  if (!is_utf8(text)) return Error(Errc::MalformedText, "the close reason is not UTF-8");
  return CloseReason{.code = static_cast<CloseCode>(code), .text = std::string(text)};
}

std::string write_close(CloseCode code, std::string_view text) {
  std::string payload;
  if (!is_sendable(code)) return payload;
  const auto number = static_cast<std::uint16_t>(code);
  payload += static_cast<char>(number >> 8U);
  payload += static_cast<char>(number & 0xffU);
  if (is_utf8(text)) payload += cut(text);
  return payload;
}

}  // namespace skua::ws
