// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace skua::client {

/// The hosts that are reached without a proxy, as listed in the variable NO_PROXY.
class NoProxy final {
 public:
  NoProxy() = default;

  /// Parses a list separated by commas, white space, or both. Any other entry matches nothing:
  ///
  /// ```
  /// *                       every host
  /// example.com             it and all its subdomains; likewise with a leading dot
  /// *.example.com           its subdomains only
  /// 10.0.0.1  ::1  [::1]    an address
  /// 10.0.0.0/8  fd00::/8    all addresses with this prefix
  /// example.com:8080        any of them with a port: that port only; IPv6 then needs brackets
  /// ```
  static NoProxy parse(std::string_view list);

  /// Reports whether a host is listed: a name in any case, with or without a trailing dot, or an
  /// address. Names are not resolved: an address never matches a name, nor a name an address.
  [[nodiscard]] bool contains(std::string_view host, std::uint16_t port) const;

  friend bool operator==(const NoProxy&, const NoProxy&) = default;

 private:
  enum class Kind : std::uint8_t { All, Name, Below, Network };

  struct Entry {
    Kind kind = Kind::All;
    std::uint8_t bits = 0;   ///< the prefix length of a network
    std::uint16_t port = 0;  ///< 0: any
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
