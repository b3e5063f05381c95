// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "skua/error.hpp"

namespace skua::ws {

/// Whether it can be the value of Sec-WebSocket-Key: base64 of 16 bytes.
///
/// RFC:       6455 §4.1, §4.2.1, §4.3
bool is_valid_key(std::string_view text) noexcept;

/// The value of Sec-WebSocket-Accept that answers a key: it shows that the server speaks WebSocket.
///
/// RFC:       6455 §4.2.2
std::string accept_key(std::string_view key);

/// A client's key. Ends with: SystemFailure, as crypto::random_bytes.
Result<std::string> make_key();

}  // namespace skua::ws
