// SPDX-License-Identifier: MIT
// In: texts of peers. Out: ids, or nothing.
#include "topics/message_id.hpp"

#include <charconv>
#include <limits>

namespace skua::topics {
namespace {

// Digits only: from_chars would also take a minus sign of signed types, but these are unsigned.
bool parse_number(std::string_view text, std::uint64_t& number) noexcept {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace

std::string MessageId::to_string() const {
  return std::to_string(milliseconds) + "-" + std::to_string(sequence);
}

MessageId MessageId::next() const noexcept {
  if (sequence != std::numeric_limits<std::uint64_t>::max()) return {milliseconds, sequence + 1};
  return {milliseconds + 1, 0};
}

std::optional<MessageId> parse_message_id(std::string_view text) noexcept {
  MessageId id;
  const std::size_t dash = text.find('-');
  if (!parse_number(text.substr(0, dash), id.milliseconds)) return std::nullopt;
  if (dash != text.npos && !parse_number(text.substr(dash + 1), id.sequence)) return std::nullopt;
  return id;
}

}  // namespace skua::topics
