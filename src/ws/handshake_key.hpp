// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::ws {

/// Reports whether a text is a valid Sec-WebSocket-Key: base64 of 16 bytes.
///
/// RFC:       6455 §4.1, §4.2.1, §4.3
bool is_valid_key(std::string_view text) noexcept;

/// Returns the Sec-WebSocket-Accept for a key, which proves that the server speaks WebSocket.
///
/// RFC:       6455 §4.2.2
std::string accept_key(std::string_view key);

/// Returns a random key for a client. Ends with: SystemFailure, like crypto::random_bytes.
Result<std::string> make_key();

}  // namespace skua::ws
