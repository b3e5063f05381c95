// SPDX-License-Identifier: MIT
// In: a structured field dictionary. Out: its members `u`, an integer, and `i`, a boolean. Other
// members are skipped without being parsed.
#include "h2/priority.hpp"

#include "base/ascii.hpp"

namespace skua::h2 {
namespace {

/// Removes and returns the member up to the next comma outside of strings and inner lists.
std::string_view next_member(std::string_view& rest) noexcept {
  bool is_quoted = false;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (is_quoted) {
      if (c == '\\') ++i;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')' && depth != 0) {
      --depth;
    } else if (c == ',' && depth == 0) {
      const std::string_view member = rest.substr(0, i);
      rest.remove_prefix(i + 1);
      return ascii::trim_ows(member);
    }
  }
  const std::string_view member = rest;
  rest = {};
  return ascii::trim_ows(member);
}

}  // namespace

Priority parse_priority(std::string_view value) noexcept {
  Priority told;
  while (!value.empty()) {
    std::string_view member = next_member(value);
    if (member.empty()) return {};
    member = member.substr(0, member.find(';'));  // parameters
    const std::size_t equals = member.find('=');
    const std::string_view key = member.substr(0, equals);
    const bool has_value = equals != std::string_view::npos;
    const std::string_view text = has_value ? member.substr(equals + 1) : std::string_view();
    if (key == "u") {
      // RFC 9218 §4: a value out of range, or of another type, is ignored.
      if (text.size() == 1 && text[0] >= '0' && text[0] <= '7') {
        told.urgency = static_cast<std::uint8_t>(text[0] - '0');
      }
    } else if (key == "i") {
      if (!has_value || text == "?1") told.is_incremental = true;
      if (text == "?0") told.is_incremental = false;
    }
  }
  return told;
}

}  // namespace skua::h2
