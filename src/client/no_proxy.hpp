// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::client {

/// The hosts that are reached without a proxy, as the variable NO_PROXY lists them.
class NoProxy final {
 public:
  NoProxy() = default;

  /// Reads a list with commas, white space, or both in between. What is none of these fits nothing:
  ///
  /// ```
  /// *                       every host
  /// example.com             it and all names below it; the same with a dot in front
  /// *.example.com           the names below it only
  /// 10.0.0.1  ::1  [::1]    an address
  /// 10.0.0.0/8  fd00::/8    all addresses that begin with so many bits
  /// example.com:8080        any of them with a port: that one only; IPv6 then needs its brackets
  /// ```
  static NoProxy parse(std::string_view list);

  /// Whether a host is listed: a name in whatever case, with a dot at its end or without, or an
  /// address. Names are not resolved: an address fits no name, and a name no address.
  [[nodiscard]] bool contains(std::string_view host, std::uint16_t port) const;

  friend bool operator==(const NoProxy&, const NoProxy&) = default;

 private:
  enum class Kind : std::uint8_t { All, Name, Below, Network };

  struct Entry {
    Kind kind = Kind::All;
    std::uint8_t bits = 0;   ///< of a network: how many of its octets' bits count
    std::uint16_t port = 0;  ///< 0: all
    std::string text{};      ///< a name in lower case, or the octets of a network

    friend bool operator==(const Entry&, const Entry&) = default;
  };
  struct Host;

  static bool read_host(std::string_view text, Entry& entry);
  static bool read_network(std::string_view text, Entry& entry);
  [[nodiscard]] static std::string octets_of(std::string_view address);
  [[nodiscard]] static bool fits(const Entry& entry, const Host& host) noexcept;

  std::vector<Entry> entries_;
};

}  // namespace skua::client
