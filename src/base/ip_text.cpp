// SPDX-License-Identifier: MIT
// In: the text of an IP address. Out: its numbers, if valid; and the canonical text of IPv6.
// No C library: inet_aton accepts octal and short forms, and text that two programs read as
// different addresses is how filters are bypassed.
#include "base/ip_text.hpp"

#include <algorithm>
#include <iterator>

#include "base/ascii.hpp"

namespace skua {
namespace {

constexpr std::size_t groups_count = 8;

// Consumes a decimal number of 0 to 255 without leading zeros.
std::optional<std::uint8_t> take_octet(std::string_view& text) noexcept {
  unsigned value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && ascii::is_digit(text[digits])) {
    value = value * 10 + static_cast<unsigned>(text[digits++] - '0');
  }
  if (digits == 0 || value > 255 || (digits > 1 && text.front() == '0')) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<std::uint8_t>(value);
}

// Consumes one to four hexadecimal digits.
std::optional<std::uint16_t> take_group(std::string_view& text) noexcept {
  unsigned value = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < 5 && ascii::is_hex(text[digits])) {
    value = value << 4U | ascii::hex_value(text[digits++]);
  }
  if (digits == 0 || digits > 4) return std::nullopt;
  text.remove_prefix(digits);
  return static_cast<std::uint16_t>(value);
}

}  // namespace

std::optional<std::array<std::uint8_t, 4>> parse_ipv4(std::string_view text) noexcept {
  std::array<std::uint8_t, 4> octets{};
  for (std::size_t i = 0; i < octets.size(); ++i) {
    if (i != 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
    const auto octet = take_octet(text);
    if (!octet) return std::nullopt;
    octets[i] = *octet;
  }
  if (!text.empty()) return std::nullopt;
  return octets;
}

std::optional<std::array<std::uint16_t, 8>> parse_ipv6(std::string_view text) noexcept {
  std::array<std::uint16_t, groups_count> groups{};
  std::size_t count = 0;
  std::optional<std::size_t> gap;  // the index of the group that "::" precedes
  if (text.starts_with("::")) {
    gap = 0;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    if (const auto ipv4 = text.find(':') == text.npos ? parse_ipv4(text) : std::nullopt) {
      if (count + 2 > groups_count) return std::nullopt;
      groups[count++] = static_cast<std::uint16_t>((*ipv4)[0] << 8U | (*ipv4)[1]);
      groups[count++] = static_cast<std::uint16_t>((*ipv4)[2] << 8U | (*ipv4)[3]);
      break;
    }
    if (count == groups_count) return std::nullopt;
    const auto group = take_group(text);
    if (!group) return std::nullopt;
    groups[count++] = *group;
    if (text.empty()) break;
    if (text.starts_with("::")) {
      if (gap) return std::nullopt;
      gap = count;
      text.remove_prefix(2);
    } else if (text.size() > 1 && text.front() == ':') {
      text.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  // "::" stands for at least one group.
  if (gap ? count >= groups_count : count != groups_count) return std::nullopt;
  if (gap) {
    const auto at = groups.begin() + static_cast<std::ptrdiff_t>(*gap);
    std::rotate(at, groups.begin() + static_cast<std::ptrdiff_t>(count), groups.end());
  }
  return groups;
}

void append_ipv6(std::string& out, const std::array<std::uint16_t, 8>& groups) {
  // RFC 5952 §4.2: the longest run of zeros, the first if several are as long, never a single one.
  std::size_t gap = groups_count;
  std::size_t gap_size = 1;
  for (std::size_t begin = 0; begin < groups_count; ++begin) {
    std::size_t end = begin;
    while (end < groups_count && groups[end] == 0) ++end;
    if (end - begin <= gap_size) continue;
    gap = begin;
    gap_size = end - begin;
  }
  // Much shorter than std::to_chars() for any base.
  const auto number = [&out](unsigned value, unsigned base) {
    char digits[4];
    char* at = std::end(digits);
    do {
      *--at = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    out.append(at, std::end(digits));
  };
  // RFC 5952 §5: an IPv4-mapped address ends in its dotted quad.
  const bool is_mapped = gap == 0 && gap_size == 5 && groups[5] == 0xffff;
  for (std::size_t i = 0; i < (is_mapped ? groups_count - 2 : groups_count);) {
    if (i == gap) {
      out += "::";
      i += gap_size;
      continue;
    }
    if (i != 0 && !out.ends_with("::")) out += ':';
    number(groups[i++], 16);
  }
  if (!is_mapped) return;
  for (const std::size_t i : {std::size_t{6}, std::size_t{7}}) {
    out += i == 6 ? ':' : '.';
    number(groups[i] >> 8U, 10);
    out += '.';
    number(groups[i] & 0xffU, 10);
  }
}

}  // namespace skua
