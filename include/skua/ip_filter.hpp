// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skua/address.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

/// A block of IP addresses with a common prefix: `10.0.0.0/8`, `2001:db8::/32`. A value type.
///
/// Blocks of IPv4-mapped addresses (`::ffff:10.0.0.0/104`) are the IPv4 block, so there is one form
/// of each, and mapped peers match it. RFC 4632 §3.1, RFC 4291 §2.3
class SKUA_API Network final {
 public:
  /// Parses a block, or an address alone, which is a block of one. Bits after the prefix are
  /// cleared: `10.1.2.3/8` is `10.0.0.0/8`.
  ///
  /// Ends with: InvalidAddress, also for a zone, brackets, or a leading zero.
  static Result<Network> parse(std::string_view text) noexcept;
  /// Returns the block that has this address and prefix length; the port and the scope id are
  /// ignored. The length of an IPv4-mapped address is that of its IPv4 block: 0 to 32.
  ///
  /// Ends with: InvalidAddress if it is not an IP address, or the prefix exceeds it.
  static Result<Network> of(const Address& address, unsigned prefix_length) noexcept;
  /// Returns the block of this address alone.
  ///
  /// Ends with: InvalidAddress if it is not an IP address.
  static Result<Network> of(const Address& address) noexcept;

  [[nodiscard]] Address::Family family() const noexcept {
    return is_ipv6_ ? Address::Family::Ipv6 : Address::Family::Ipv4;
  }
  /// 0 to 32, or to 128 for IPv6.
  [[nodiscard]] unsigned prefix_length() const noexcept { return prefix_length_; }
  /// Reports whether the address is in the block, with any port and scope id. An IPv4-mapped
  /// address is an IPv4 address: it is not in `::/0`.
  [[nodiscard]] bool contains(const Address& address) const noexcept;
  [[nodiscard]] bool contains(const Network& other) const noexcept;

  /// Returns `10.0.0.0/8`; always with the prefix length.
  [[nodiscard]] std::string to_string() const;

  friend bool operator==(const Network&, const Network&) noexcept = default;
  /// Orders by family, address and prefix length, so that a block comes before those inside it.
  friend std::strong_ordering operator<=>(const Network&, const Network&) noexcept = default;

 private:
  using Octets = std::array<std::uint8_t, 16>;  // IPv4: the first four, the others are 0

  Network(bool is_ipv6, const Octets& octets, unsigned prefix_length) noexcept;
  static Result<Network> make(bool is_ipv6, const Octets& octets, unsigned prefix_length) noexcept;

  bool is_ipv6_;
  Octets octets_;
  std::uint8_t prefix_length_;
};

/// Parses a list of networks, one a line. Blank lines and comments (`#` to the end of the line) are
/// skipped.
///
/// Ends with: InvalidAddress, with a text that shows the line.
[[nodiscard]] SKUA_API Result<std::vector<Network>, Problem> parse_networks(std::string_view text);

/// The rules of an IpFilter; their order does not matter.
struct IpRules {
  std::vector<Network> allow{};  ///< if there are any, all other peers are refused
  std::vector<Network> deny{};   ///< refused, even if allowed
};

/// Decides which peers may connect, by rules that may change meanwhile. One filter may serve any
/// number of servers; all functions are thread-safe.
///
/// | allow | deny | accepted |
/// |---|---|---|
/// | empty | empty | everyone |
/// | empty | `10.1.0.0/16` | everyone but `10.1.0.0/16` |
/// | `10.0.0.0/8` | empty | `10.0.0.0/8` |
/// | `10.0.0.0/8` | `10.1.0.0/16` | `10.0.0.0/8` but `10.1.0.0/16` |
/// | `10.1.2.3` | `10.1.0.0/16` | nobody: a denied address cannot be allowed again |
///
/// ```cpp
/// const auto filter = std::make_shared<skua::IpFilter>();
/// filter->change([&](skua::IpRules& rules) { rules.deny.push_back(network); });
/// ```
class SKUA_API IpFilter final {
 public:
  IpFilter() = default;
  explicit IpFilter(IpRules rules) { replace(std::move(rules)); }
  IpFilter(const IpFilter&) = delete;
  IpFilter& operator=(const IpFilter&) = delete;
  ~IpFilter();

  /// Reports whether the peer may connect, by the address itself: IPv4-mapped addresses are IPv4
  /// addresses, ports and scope ids do not matter. Unix peers always may, because the permissions
  /// of the path decide; an unknown address (Family::None) never.
  ///
  /// Takes no lock, allocates nothing, and needs O(log n) steps.
  [[nodiscard]] bool accepts(const Address& peer) const noexcept;

  /// Replaces all rules at once. Open connections are not affected.
  void replace(IpRules rules);
  /// Replaces the rules by an edited copy, unless `edit` throws. Costs a pass over all rules: make
  /// many changes in one call.
  void change(const std::function<void(IpRules&)>& edit);
  [[nodiscard]] IpRules rules() const;

 private:
  struct Table;
  void install(IpRules rules);

  mutable std::mutex changing_;
  IpRules rules_;                             // guarded by changing_
  std::atomic<const Table*> table_{nullptr};  // null: everyone is accepted
  mutable std::atomic<std::size_t> readers_{0};
};

}  // namespace skua
