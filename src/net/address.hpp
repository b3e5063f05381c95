// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"

namespace skua::net {

/// A socket address: IPv4 or IPv6 (with zone) and a port, a Unix path, or none. A value type.
class Address {
 public:
  enum class Family : std::uint8_t { None, Ipv4, Ipv6, Unix };

  /// The maximum length of an address as text: `unix:` and a path.
  static constexpr std::size_t max_text_bytes = 5 + sizeof(sockaddr_un::sun_path);

  /// Creates an address of Family::None.
  Address() noexcept;

  /// Parses a numeric host, `127.0.0.1`, `::1`, `[::1]` or `fe80::1%eth0`, and adds the port.
  /// Ends with: InvalidAddress; names are not resolved.
  static Result<Address> parse(std::string_view host, std::uint16_t port) noexcept;
  /// Parses the output of to_string(): `1.2.3.4:80`, `[::1]:80`, `unix:/run/x`.
  static Result<Address> parse(std::string_view text) noexcept;
  /// Ends with: InvalidAddress if the path is empty, has a NUL or exceeds 107 bytes (on Linux).
  static Result<Address> unix_path(std::string_view path) noexcept;
  /// Copies a sockaddr; an unknown family or a wrong size yields Family::None.
  static Address from_sockaddr(const sockaddr* address, std::size_t size_bytes) noexcept;

  [[nodiscard]] Family family() const noexcept;
  [[nodiscard]] bool is_ip() const noexcept {
    return family() == Family::Ipv4 || family() == Family::Ipv6;
  }
  [[nodiscard]] bool is_loopback() const noexcept;
  /// The port, or 0 if the family has none.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] Address with_port(std::uint16_t port) const noexcept;
  /// The path of a Unix address; empty for other families.
  [[nodiscard]] std::string_view path() const noexcept SKUA_LIFETIMEBOUND;

  /// Writes the text into `buffer`, truncated if necessary (max_text_bytes always suffice).
  std::string_view format(std::span<char> buffer) const noexcept;
  /// Like format(), but without port and brackets: `1.2.3.4`, `::1`, the path.
  std::string_view format_host(std::span<char> buffer) const noexcept;
  [[nodiscard]] std::string to_string() const;

  /// The sockaddr, for system calls.
  [[nodiscard]] const sockaddr* data() const noexcept SKUA_LIFETIMEBOUND { return &base_; }
  [[nodiscard]] socklen_t size_bytes() const noexcept { return size_bytes_; }

  friend bool operator==(const Address& a, const Address& b) noexcept;

 private:
  union {
    sockaddr base_;
    sockaddr_in ipv4_;
    sockaddr_in6 ipv6_;
    sockaddr_un unix_;
  };
  socklen_t size_bytes_ = 0;
};

/// Returns the IP addresses at which other machines can reach this one: neither loopback nor
/// link-local IPv6 addresses. Empty if the system reports none.
[[nodiscard]] std::vector<Address> interface_addresses();

/// Returns the machine's name, or an empty string if it has none.
[[nodiscard]] std::string host_name();

}  // namespace skua::net
