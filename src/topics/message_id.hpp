// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skua::topics {

/// The id of a message: when it was published, and a number that tells messages of the same
/// millisecond apart. Ids of a topic ascend. Those of Redis streams are the same.
struct MessageId {
  std::uint64_t milliseconds = 0;  ///< since 1970
  std::uint64_t sequence = 0;

  auto operator<=>(const MessageId&) const = default;
  /// Returns `MILLISECONDS-SEQUENCE`.
  [[nodiscard]] std::string to_string() const;
  /// Returns the lowest id that is higher.
  [[nodiscard]] MessageId next() const noexcept;
};

/// Parses `MILLISECONDS-SEQUENCE`, or `MILLISECONDS` alone, in decimal; nullopt for anything else.
std::optional<MessageId> parse_message_id(std::string_view text) noexcept;

}  // namespace skua::topics
