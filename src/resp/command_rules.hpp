// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "skua/redis_command.hpp"

namespace skua::resp {

/// The number of hash slots of a cluster.
inline constexpr std::uint16_t slot_count = 16384;

/// Returns the slot of a key: that of its hash tag, the text between the first `{` and the next
/// `}`, if there is one and it is not empty.
std::uint16_t slot_of_key(std::string_view key) noexcept;

/// Returns the slot of a command by its first key; nullopt if it has no key, so that any node may
/// answer.
std::optional<std::uint16_t> slot_of(const redis::Command& command) noexcept;

/// Reports whether a command may wait on the server, and so would hold up all that share its
/// connection: `BLPOP`, `WAIT`, `XREAD` with `BLOCK`.
bool is_blocking(const redis::Command& command) noexcept;

/// Returns why a command cannot be sent over a shared connection, because it would change what the
/// connection means to others: `MULTI`, `SUBSCRIBE`, `SELECT`; null if it can.
const char* refusal_of(const redis::Command& command) noexcept;

}  // namespace skua::resp
