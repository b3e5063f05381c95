// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// WebSocket frames as far as an echo that trusts its peer needs them (RFC 6455 §5.2).
///
///   client:  | head 2, 4 or 10 | mask 4 | payload |
///   server:  | head 2, 4 or 10 | payload |
namespace bench::raw {

/// The key of the handshake in RFC 6455 §1.3, and the only answer to it. Who measures sends this
/// one, so that a ceiling need not know SHA-1.
inline constexpr std::string_view handshake_key = "dGhlIHNhbXBsZSBub25jZQ==";
inline constexpr std::string_view handshake_accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

/// A larger payload is refused.
inline constexpr std::size_t most_payload_bytes = std::size_t{16} * 1024 * 1024;

/// How many bytes of a masked frame to have at least, before more can be said: all of it once the
/// head is there. 0 for what is no masked frame, or too large.
[[nodiscard]] std::size_t needed_bytes(std::string_view start) noexcept;

/// Makes the server's frame from the client's, in its bytes; returns it, a part of them.
std::string_view answer_in_place(char* frame, std::size_t size) noexcept;

/// A whole unmasked frame, as a server sends it.
[[nodiscard]] std::string server_frame(bool is_text, std::string_view payload);

/// The same, masked by a key: as a client sends it.
[[nodiscard]] std::string client_frame(bool is_text, std::string_view payload,
                                       std::string_view key);

}  // namespace bench::raw
