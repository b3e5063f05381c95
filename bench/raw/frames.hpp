// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// The subset of WebSocket framing for an echo that trusts its peer (RFC 6455 §5.2).
///
///   client:  | head 2, 4 or 10 | mask 4 | payload |
///   server:  | head 2, 4 or 10 | payload |
namespace bench::raw {

/// The handshake key in RFC 6455 §1.3, and its only correct response. Load generators send this
/// key, so that a ceiling need not implement SHA-1.
inline constexpr std::string_view handshake_key = "dGhlIHNhbXBsZSBub25jZQ==";
inline constexpr std::string_view handshake_accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// Larger payloads are refused.
inline constexpr std::size_t max_payload_bytes = std::size_t{16} * 1024 * 1024;

/// Returns how many bytes of a masked frame are needed next: the whole frame once the head is
/// complete. Returns 0 if the frame is unmasked or too large.
[[nodiscard]] std::size_t needed_bytes(std::string_view start) noexcept;

/// Turns a client's frame into the server's echo in place; returns the echo, a part of its bytes.
std::string_view answer_in_place(char* frame, std::size_t size) noexcept;

/// Returns a whole unmasked frame, as sent by a server.
[[nodiscard]] std::string server_frame(bool is_text, std::string_view payload);

/// Returns a whole frame masked with `key`, as sent by a client.
[[nodiscard]] std::string client_frame(bool is_text, std::string_view payload,
                                       std::string_view key);

}  // namespace bench::raw
