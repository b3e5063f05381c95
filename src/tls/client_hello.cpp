// SPDX-License-Identifier: MIT
// In: the octets of a server_name extension. Out: the name in it.
//
//   0        2      3        5
//   | length | type | length | name ...        type 0 is host_name; exactly one is allowed
#include "tls/client_hello.hpp"

#include <cstddef>

namespace skua::tls {
namespace {

constexpr std::size_t head_bytes = 5;

std::size_t number(std::string_view two_octets) noexcept {
  return static_cast<std::size_t>(static_cast<unsigned char>(two_octets[0])) << 8U |
         static_cast<unsigned char>(two_octets[1]);
}

}  // namespace

std::optional<std::string_view> parse_server_name(std::string_view extension) noexcept {
  if (extension.size() <= head_bytes || number(extension) != extension.size() - 2) {
    return std::nullopt;
  }
  if (extension[2] != 0 || number(extension.substr(3)) != extension.size() - head_bytes) {
    return std::nullopt;
  }
  const std::string_view name = extension.substr(head_bytes);
  if (name.size() > 255 || name.find('\0') != std::string_view::npos) return std::nullopt;
  return name;
}

}  // namespace skua::tls
