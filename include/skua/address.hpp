// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

struct sockaddr;

namespace skua {

/// The address of a socket: IPv4 or IPv6 and a port, a Unix path or abstract name, or none. A
/// value type; an IPv6 address may have a scope id, which names a network interface (RFC 4007).
///
/// ```cpp
/// const auto address = skua::Address::parse("[fe80::1%eth0]:8080");
/// if (address) std::puts(address->to_string().c_str());
/// ```
class SKUA_API Address final {
 public:
  enum class Family : std::uint8_t { None, Ipv4, Ipv6, Unix };

  /// The maximum length of an address as text: `unix:` and a path or name.
  static constexpr std::size_t max_text_bytes = 5 + 108;

  /// Creates an address of Family::None.
  Address() noexcept = default;

  /// Parses a numeric host, `127.0.0.1`, `::1`, `[::1]` or `fe80::1%eth0`, and adds the port.
  ///
  /// Ends with: InvalidAddress; names are not resolved: see resolve().
  static Result<Address> parse(std::string_view host, std::uint16_t port) noexcept;
  /// Parses the output of to_string(): `1.2.3.4:80`, `[::1]:80`, `unix:/run/x`, `unix:@name`.
  ///
  /// Ends with: InvalidAddress.
  static Result<Address> parse(std::string_view text) noexcept;
  /// Ends with: InvalidAddress if the path is empty, has a NUL or exceeds 107 bytes (on Linux).
  static Result<Address> unix_path(std::string_view path) noexcept;
  /// Returns the address of a name that is not in the file system and ends with its sockets.
  ///
  /// Ends with: InvalidAddress if the name is empty, has a NUL or exceeds 107 bytes; Unsupported
  ///            on systems other than Linux.
  static Result<Address> unix_abstract(std::string_view name) noexcept;
  /// Returns `0.0.0.0` or `::`, to listen on all addresses of the machine.
  static Address any(Family family, std::uint16_t port) noexcept;
  /// Returns `127.0.0.1` or `::1`.
  static Address loopback(Family family, std::uint16_t port) noexcept;
  /// Returns the address of these 4 or 16 bytes, as from ip_bytes(); any other number of bytes
  /// yields Family::None.
  static Address from_ip_bytes(Bytes bytes, std::uint16_t port) noexcept;
  /// Copies a sockaddr; an unknown family or a wrong size yields Family::None.
  static Address from_sockaddr(const sockaddr* address, std::size_t size_bytes) noexcept;

  [[nodiscard]] Family family() const noexcept;
  [[nodiscard]] bool is_ip() const noexcept {
    return family() == Family::Ipv4 || family() == Family::Ipv6;
  }
  /// Whether only this machine can reach the address: `127.0.0.0/8`, `::1`, any Unix address.
  [[nodiscard]] bool is_loopback() const noexcept;
  /// Whether it stands for all addresses of the machine: `0.0.0.0` or `::`.
  [[nodiscard]] bool is_any() const noexcept;
  [[nodiscard]] bool is_multicast() const noexcept;
  /// Whether it is an IPv6 address that needs a scope id: `fe80::/10`.
  [[nodiscard]] bool is_link_local() const noexcept;
  /// The IPv4 address in an IPv4-mapped IPv6 address (`::ffff:1.2.3.4`), otherwise the address
  /// itself. Peers of an IPv6 listener have mapped addresses if they use IPv4. RFC 4291 §2.5.5.2
  [[nodiscard]] Address unmapped() const noexcept;

  /// The 4 or 16 bytes of an IP address, in network order; empty for other families.
  [[nodiscard]] Bytes ip_bytes() const noexcept SKUA_LIFETIMEBOUND;
  /// The port, or 0 if the family has none.
  [[nodiscard]] std::uint16_t port() const noexcept;
  [[nodiscard]] Address with_port(std::uint16_t port) const noexcept;
  /// The index of the network interface that an IPv6 address is for; 0 if it has none.
  [[nodiscard]] std::uint32_t scope_id() const noexcept;
  /// The path of a Unix address; empty for other families and for abstract names.
  [[nodiscard]] std::string_view path() const noexcept SKUA_LIFETIMEBOUND;
  /// The abstract name of a Unix address; empty if it has none.
  [[nodiscard]] std::string_view abstract_name() const noexcept SKUA_LIFETIMEBOUND;

  /// Writes the text into `buffer`, truncated if necessary (max_text_bytes always suffice).
  std::string_view format(std::span<char> buffer) const noexcept;
  /// Like format(), but without port and brackets: `1.2.3.4`, `::1`, the path.
  std::string_view format_host(std::span<char> buffer) const noexcept;
  [[nodiscard]] std::string to_string() const;

  /// The sockaddr, for system calls.
  [[nodiscard]] const sockaddr* data() const noexcept SKUA_LIFETIMEBOUND {
    return reinterpret_cast<const sockaddr*>(storage_.data());
  }
  [[nodiscard]] std::uint32_t size_bytes() const noexcept { return size_bytes_; }

  [[nodiscard]] std::size_t hash() const noexcept;
  friend bool operator==(const Address& a, const Address& b) noexcept {
    return (a <=> b) == std::strong_ordering::equal;
  }
  /// Orders by family, address, port and scope id; Unix addresses by their bytes.
  friend SKUA_API std::strong_ordering operator<=>(const Address& a, const Address& b) noexcept;

 private:
  template <class Sockaddr>
  [[nodiscard]] Sockaddr& as() noexcept;
  template <class Sockaddr>
  [[nodiscard]] const Sockaddr& as() const noexcept;
  [[nodiscard]] std::string_view unix_bytes() const noexcept SKUA_LIFETIMEBOUND;

  // A sockaddr_in, sockaddr_in6 or sockaddr_un; its first bytes are the family.
  alignas(8) std::array<std::byte, 112> storage_{};
  std::uint32_t size_bytes_ = 0;
};

/// Returns the addresses of a host, best first (RFC 6724): of a name, or of a numeric address.
///
/// Waits for: name servers. Not for the thread of a loop.
/// Ends with: NameNotResolved, with the system's reason; InvalidAddress for text that is neither a
///            host name nor an address, also if a lenient parser takes it for one (`127.1`).
[[nodiscard]] SKUA_API Result<std::vector<Address>, Problem> resolve(std::string_view host,
                                                                     std::uint16_t port);

/// A network interface of the machine.
struct NetworkInterface {
  std::string name{};        ///< `eth0`
  std::uint32_t index = 0;   ///< as in Address::scope_id()
  bool is_up = false;        ///< can send and receive
  bool is_loopback = false;  ///< reaches this machine only
  bool has_multicast = false;
  std::vector<Address> addresses{};  ///< with port 0
};

/// Returns the machine's network interfaces, in the system's order.
///
/// Ends with: the system's error.
[[nodiscard]] SKUA_API Result<std::vector<NetworkInterface>> network_interfaces();

}  // namespace skua

template <>
struct std::hash<skua::Address> {
  std::size_t operator()(const skua::Address& address) const noexcept { return address.hash(); }
};
