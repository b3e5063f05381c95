// SPDX-License-Identifier: MIT
// Checks, byte by byte, the host and port of a Host field or an absolute-form target. Names are not
// resolved and addresses are not normalized.
#include "http/uri/authority.hpp"

#include <algorithm>
#include <array>

#include "base/ascii.hpp"

namespace skua::http {
namespace {

constexpr std::array<bool, 256> make_name_bytes() {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 0x80; ++c) {
    const char byte = static_cast<char>(c);
    table[c] = ascii::is(byte, ascii::Alpha | ascii::Digit) ||
               std::string_view("-._~!$&'()*+;=").find(byte) != std::string_view::npos;
  }
  return table;
}
constexpr std::array<bool, 256> name_bytes = make_name_bytes();

constexpr std::size_t max_name_bytes = 255;  // RFC 1035 §2.3.4

/// Reports whether text is `d.d.d.d` with numbers up to 255.
bool is_ipv4(std::string_view text) noexcept {
  for (int part = 0; part < 4; ++part) {
    std::size_t digits = 0;
    unsigned number = 0;
    while (digits < text.size() && digits < 4 && ascii::is_digit(text[digits])) {
      number = number * 10 + static_cast<unsigned>(text[digits++] - '0');
    }
    if (digits == 0 || number > 255 || (digits > 1 && text[0] == '0')) return false;
    text.remove_prefix(digits);
    if (part == 3) return text.empty();
    if (text.empty() || text[0] != '.') return false;
    text.remove_prefix(1);
  }
  return false;
}

/// RFC 3986 §3.2.2, IPv6address; no zone.
bool is_ipv6(std::string_view text) noexcept {
  int groups = 0;
  bool compressed = false;
  if (text.starts_with("::")) {
    compressed = true;
    text.remove_prefix(2);
  }
  while (!text.empty()) {
    std::size_t digits = 0;
    while (digits < text.size() && ascii::is_hex(text[digits])) ++digits;
    if (digits < text.size() && text[digits] == '.') {  // the last two groups as IPv4
      if (!is_ipv4(text)) return false;
      groups += 2;
      break;
    }
    if (digits == 0 || digits > 4) return false;
    ++groups;
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] != ':') continue;
    if (compressed) return false;
    compressed = true;
    text.remove_prefix(1);
  }
  return compressed ? groups <= 7 : groups == 8;
}

bool is_port(std::string_view text) noexcept {
  unsigned number = 0;
  for (const char c : text) {
    if (!ascii::is_digit(c)) return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
    if (number > 0xffff) return false;
  }
  return true;
}

/// Returns the size of the host of a valid authority.
std::size_t host_bytes(std::string_view authority) noexcept {
  if (authority.starts_with('[')) return authority.find(']') + 1;
  return std::min(authority.find(':'), authority.size());
}

}  // namespace

bool is_authority(std::string_view text) noexcept {
  std::size_t end = 0;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || !is_ipv6(text.substr(1, end - 1))) return false;
    ++end;
  } else {
    while (end < text.size() && name_bytes[static_cast<unsigned char>(text[end])]) ++end;
    if (end == 0 || end > max_name_bytes) return false;
  }
  if (end == text.size()) return true;
  return text[end] == ':' && is_port(text.substr(end + 1));
}

std::string_view host_of(std::string_view authority) noexcept {
  return authority.substr(0, host_bytes(authority));
}

std::uint16_t port_of(std::string_view authority, std::uint16_t fallback) noexcept {
  const std::size_t end = host_bytes(authority);
  if (authority.size() <= end + 1)
    return fallback;  // RFC 3986 §3.2.3: an empty port is the default
  unsigned number = 0;
  for (const char c : authority.substr(end + 1))
    number = number * 10 + static_cast<unsigned>(c - '0');
  return static_cast<std::uint16_t>(number);
}

bool is_same_authority(std::string_view a, std::string_view b,
                       std::uint16_t default_port) noexcept {
  return ascii::equals_ignoring_case(host_of(a), host_of(b)) &&
         port_of(a, default_port) == port_of(b, default_port);
}

}  // namespace skua::http
